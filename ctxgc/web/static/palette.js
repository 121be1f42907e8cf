// One colour and one texture for every family of tags.
// Rule: colour alone says nothing: families past the seventh have a texture, and names stand beside all of them.
"use strict";
(function (page) {
  const { html } = window.htmPreact;
  // Numbers of the seven hues in app.css: Paul Tol's "bright", which the colour-blind tell apart.
  const KNOWN = new Map([
    ["system_prompt", 6], ["tool_schema", 5], ["user_turn", 4], ["agent_reply", 0], ["agent_reasoning", 7],
    ["tool_call", 3], ["tool_result", 1], ["retrieval", 2],
  ]);
  const HUES = 7;
  const TEXTURES = ["M0 6L6 0", "M0 0L6 6", "M0 3H6", "M3 0V6", "M0 6L6 0M0 0L6 6"];

  // A number for each family: known ones have their own, others get what is left. n % 7 is the hue, n / 7 the texture.
  function assign(families) {
    const numbers = new Map();
    let next = HUES + 1;
    for (const family of families) numbers.set(family, KNOWN.has(family) ? KNOWN.get(family) : next++);
    return numbers;
  }

  const hue = (number) => "hue-" + (number % HUES);
  const texture = (number) => Math.floor(number / HUES) % (TEXTURES.length + 1);

  // The textures, once in each drawing that uses them.
  function Textures({ name }) {
    return html`<defs>${TEXTURES.map((path, i) => html`
      <pattern key=${i} id=${name + "-texture-" + (i + 1)} width="6" height="6" patternUnits="userSpaceOnUse"><path class="texture" d=${path} /></pattern>`)}</defs>`;
  }

  function Swatch({ number }) {
    const lines = texture(number);
    return html`<svg class="swatch" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
      <rect class=${hue(number)} width="12" height="12" />
      ${lines > 0 && html`<path class="texture" transform="scale(2)" d=${TEXTURES[lines - 1]} />`}
    </svg>`;
  }

  page.palette = { assign, hue, texture, Textures, Swatch };
})((window.ctxgc = window.ctxgc || {}));
