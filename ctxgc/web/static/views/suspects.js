// What wastes the window, in plain words, and what to set against it.
// Rule: a suspicion comes with its share and with something to do.
"use strict";
(function (page) {
  const { html } = window.htmPreact;
  const { line, brief, whole, share } = page.text;
  const { Empty, Bar, Copyable } = page.parts;

  function Suspect({ one }) {
    return html`<li class="card suspect" data-suspect=${one.rule} data-share=${one.share} data-figure=${one.figure}>
      <h2>${line(one.sentence)}</h2>
      <p class="portion"><b>${share(one.share)}</b> <${Bar} value=${one.share} /> <span class="dim">${whole(one.figure)} token-turns · rule <code>${line(one.rule)}</code> · <span class="site">${brief(one.subject, 200)}</span></span></p>
      <p class="do"><b>What to do:</b> ${line(one.action)}</p>
      ${one.setting && html`<p>In <code>ctxgc.toml</code>: <${Copyable} text=${one.setting} label="Setting for ctxgc.toml" /></p>`}
    </li>`;
  }

  function Suspects({ summary }) {
    const found = summary.suspects;
    if (!found.length) return html`<${Empty}>No suspects: no rule found anything that takes a share worth naming.<//>`;
    return html`<ol class="suspects" data-suspects=${found.length}>${found.map((one, i) => html`<${Suspect} key=${one.rule + i} one=${one} />`)}</ol>`;
  }

  page.views = Object.assign(page.views || {}, { suspects: Suspects });
})((window.ctxgc = window.ctxgc || {}));
