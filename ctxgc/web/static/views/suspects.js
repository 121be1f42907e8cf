// What wastes the window, in plain words, and what to set against it.
// Rule: a suspicion comes with its share and with something to do.
"use strict";
(function (page) {
  const { html } = window.htmPreact;
  const { line, brief, whole } = page.text;
  const { Empty, Bar, Copyable } = page.parts;
  const { address, keep } = page.hooks;

  // The filter of cells that shows what a suspect is about, if it is one tag or one site.
  function filterOf(summary, subject) {
    const named = (rows, name) => rows.some((row) => row.name === name);
    if (named(summary.by_tag, subject)) return { tag: subject };
    if (named(summary.by_tag, "tool_schema:" + subject)) return { tag: "tool_schema:" + subject };
    return named(summary.by_site, subject) ? { site: subject } : null;
  }

  function Subject({ summary, subject }) {
    const filter = filterOf(summary, subject);
    const shown = html`<span class="site">${brief(subject, 200)}</span>`;
    if (!filter) return shown;
    return html`${shown} · <a href=${address(summary.id, "cells")} data-cells-of onClick=${() => keep("filter:" + summary.id, filter)}>its cells</a>`;
  }

  // Settings that stand against more than one suspect: [setting, how many].
  function shared(found) {
    const count = new Map();
    for (const { setting } of found) if (setting) count.set(setting, (count.get(setting) || 0) + 1);
    return [...count].filter(([, number]) => number > 1);
  }

  function Suspect({ summary, one, above }) {
    return html`<li class="card suspect" data-suspect=${one.rule} data-share=${one.share} data-figure=${one.figure}>
      <h2>${line(one.sentence)}</h2>
      <p class="portion"><${Bar} value=${one.share} /> <span class="dim">${whole(one.figure)} token-turns · rule <code>${line(one.rule)}</code> · <${Subject} summary=${summary} subject=${one.subject} /></span></p>
      <p class="do"><b>What to do:</b> ${line(one.action)}</p>
      ${one.setting && (above ? html`<p class="dim">The setting for it stands at the top: <code>${brief(one.setting, 120)}</code></p>`
        : html`<p>In <code>ctxgc.toml</code>: <${Copyable} text=${one.setting} label=${"Setting against suspect " + one.place} /></p>`)}
    </li>`;
  }

  function Suspects({ summary }) {
    const found = summary.suspects;
    if (!found.length) return html`<${Empty}>No suspects: no rule found anything that takes a share worth naming.<//>`;
    const groups = shared(found);
    const above = new Set(groups.map(([setting]) => setting));
    return html`<p class="lead">Suspects overlap: one token may be in several, so that their shares do not add up. Token-turns: tokens times the requests that carried them.</p>
      ${groups.map(([setting, number], i) => html`<div key=${setting} class="card" data-setting=${setting} data-against=${number}>
        One setting in <code>ctxgc.toml</code> would act on ${whole(number)} of these ${whole(found.length)}: <${Copyable} text=${setting} label=${"Setting against several suspects, " + (i + 1)} /></div>`)}
      <ol class="suspects" data-suspects=${found.length}>${found.map((one, i) => html`<${Suspect} key=${one.rule + i} summary=${summary} one=${Object.assign({ place: i + 1 }, one)} above=${above.has(one.setting)} />`)}</ol>`;
  }

  page.views = Object.assign(page.views || {}, { suspects: Suspects });
})((window.ctxgc = window.ctxgc || {}));
