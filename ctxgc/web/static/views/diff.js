// What the agent sent against what the model got: of one turn, or what the model got in two.
// Rule: every change says who made it and why; a sign says what colour says.
"use strict";
(function (page) {
  const { html, useState, useMemo } = window.htmPreact;
  const { line, block, brief, whole, plural, known } = page.text;
  const { Waiting, Stale, Empty, Table } = page.parts;
  const { address, go, useDocument } = page.hooks;
  const { Link } = page.cell;
  const { report, has, paths } = page.documents;
  const AROUND = 3; // unchanged lines shown beside a change
  const HEAD = 6; // lines shown at the head of a long run of removed or added ones
  const AT_ONCE = 300; // runs of lines before the reader has to ask for more
  const CHANGES = 50; // the same for changes
  const SIGNS = { " ": [" ", "same", "unchanged"], "-": ["−", "gone", "removed"], "+": ["+", "new", "added"] };
  const signOf = (sign) => (Object.hasOwn(SIGNS, sign) ? SIGNS[sign] : SIGNS[" "]);

  // Lines in runs of one sign: [{sign, fold, lines}], where the inner part of long runs is to be folded.
  function runs(lines) {
    const found = [];
    for (let from = 0, to = 0; from < lines.length; from = to) {
      const sign = lines[from][0];
      while (to < lines.length && lines[to][0] === sign) to += 1;
      const [head, tail] = sign === " " ? [from ? AROUND : 0, to < lines.length ? AROUND : 0] : [HEAD, AROUND];
      const parts = to - from > head + tail + AROUND ? [from, from + head, to - tail, to] : [from, to];
      for (let i = 0; i + 1 < parts.length; i += 1) {
        if (parts[i] < parts[i + 1]) found.push({ sign, fold: i === 1, lines: lines.slice(parts[i], parts[i + 1]) });
      }
    }
    return found;
  }

  function Line({ one }) {
    const [sign, style] = signOf(one[0]);
    const inner = html`<span class="sign">${sign}</span>${block(one[1]) || " "}${"\n"}`;
    if (style === "gone") return html`<del class="line gone">${inner}</del>`;
    return style === "new" ? html`<ins class="line new">${inner}</ins>` : html`<span class="line">${inner}</span>`;
  }

  function Run({ run }) {
    const [open, set] = useState(!run.fold);
    const [sign, style, said] = signOf(run.sign);
    const unfold = (event) => {
      event.currentTarget.closest("pre").focus({ preventScroll: true }); // the button goes: the focus must not
      set(true);
    };
    if (!open) return html`<button type="button" class=${"fold " + style} onClick=${unfold}><span class="sign">${sign}</span>⋯ ${plural(run.lines.length, said + " line")}</button>`;
    return run.lines.map((one, i) => html`<${Line} key=${i} one=${one} />`);
  }

  function Lines({ lines, label }) {
    const [most, set] = useState(AT_ONCE);
    const all = useMemo(() => runs(lines), [lines]);
    return html`<pre class="content diff" tabindex="0" role="region" aria-label=${label}>${all.slice(0, most).map((run, i) => html`<${Run} key=${i} run=${run} />`)}</pre>
      ${all.length > most && html`<button type="button" onClick=${() => set(most + AT_ONCE)}>Show more of ${plural(lines.length, "line")}</button>`}`;
  }

  function Change({ id, change, two }) {
    const name = `message ${known(change.message) ? change.message : "?"}`;
    return html`<article class="change card" data-change=${change.cell} data-policy=${change.policy || ""}>
      <h2>${!two && html`${name} · ${line(change.role)} · `}<span class="tag">${line(change.tag)}</span> ${known(change.cell) && html`<${Link} id=${id} cell=${change.cell} />`}
        <span class="sizes">${whole(change.tokens)} → ${whole(change.sent)} tokens</span></h2>
      <p class="site">${brief(change.site, 400)}</p>
      <p>${change.policy && html`<b>${line(change.policy)}</b>${change.action && html` (${line(change.action)})`}: `}${line(change.reason || "")}
        ${known(change.since) && change.since > 0 && html` · so since turn ${change.since}`}${change.record ? html` · record ${line(change.record)}` : ""}</p>
      ${change.lines ? html`<${Lines} lines=${change.lines} label=${"Lines of " + name} />` : html`<p class="dim">Its text is left out here.</p>`}
    </article>`;
  }

  function Changes({ document, two }) {
    const [most, set] = useState(CHANGES);
    const { changes } = document;
    if (!changes.length) return two ? null : html`<${Empty}>Nothing was changed: the model got what the agent sent.<//>`;
    return html`${changes.slice(0, most).map((change, i) => html`<${Change} key=${i} id=${document.id} change=${change} two=${two} />`)}
      ${changes.length > most && html`<button type="button" onClick=${() => set(most + CHANGES)}>Show more of ${plural(changes.length, "change")}</button>`}`;
  }

  const cellColumn = (id) => ({ key: "cell", title: "Cell", show: (row) => html`<${Link} id=${id} cell=${row.cell} />` });
  const tagColumn = { key: "tag", title: "Tag", show: (row) => line(row.tag) };
  const siteColumn = { key: "site", title: "Site", show: (row) => html`<span class="site">${brief(row.site, 160)}</span>` };
  const number = (key, title, show) => ({ key, title, number: true, show: show || ((row) => whole(row[key])) });

  // The cells that came and went between two turns.
  function Between({ document }) {
    const { id } = document;
    const cells = (caption, rows, name, columns) => rows.length > 0 && html`<div data-list=${name} data-count=${rows.length}>
      <${Table} caption=${`${caption}: ${plural(rows.length, "cell")}`} rows=${rows} rowAttrs=${(row) => ({ "data-cell": row.cell })} columns=${[cellColumn(id), tagColumn, siteColumn, ...columns]} /></div>`;
    const change = (row) => (row.after > row.before ? "+" : "") + whole(row.after - row.before);
    const sizes = [number("before", `Turn ${document.against}`), number("after", `Turn ${document.turn}`), number("delta", "Change", change)];
    return html`<div class="lists">
      <${Table} caption="By tag" rows=${document.by_tag} rowAttrs=${(row) => ({ "data-tag": row.tag })} columns=${[tagColumn, ...sizes]} />
      ${cells("New", document.new, "new", [number("tokens", "Tokens")])}
      ${cells("Gone", document.gone, "gone", [number("tokens", "Tokens")])}
      ${cells("Changed", document.changed, "changed", sizes)}
    </div>`;
  }

  // The turns of a session whose diffs a report holds.
  function heldOf(summary) {
    const found = paths.map((path) => /^sessions\/(.*)\/diff\?turn=(\d+)$/.exec(path));
    return found.filter((one) => one && one[1] === summary.id).map((one) => Number(one[2]));
  }

  function Steps({ summary, turn, against }) {
    const { count } = summary.turns;
    const held = report ? heldOf(summary) : null;
    const before = (list) => list.filter((one) => one < turn).pop();
    const after = (list) => list.find((one) => one > turn);
    const step = (name, to, label) => html`<a class=${"button" + (to ? "" : " off")} data-step=${name} aria-disabled=${!to}
      href=${to ? address(summary.id, "diff", to, ...(against ? [against] : [])) : undefined} role=${to ? undefined : "link"}>${label}</a>`;
    const worked = (held || summary.collections.map((one) => one.turn)).slice().sort((a, b) => a - b);
    const what = held ? "held diff" : "collection";
    return html`<nav aria-label="Turns" class="steps">
      ${step("previous", !held && turn > 1 ? turn - 1 : null, "← previous")}${step("next", !held && turn < count ? turn + 1 : null, "next →")}
      ${step("previous-collection", before(worked), `← ${what}`)}${step("next-collection", after(worked), `${what} →`)}</nav>`;
  }

  const none = (text, count) => `There is no turn ${line(text)}: there ${count === 1 ? "is one turn" : `are ${whole(count)} turns`}.`;

  function Turns({ summary, turn, against, wrong }) {
    const { count } = summary.turns;
    const [refused, refuse] = useState("");
    const choose = (event, other) => {
      const { value: text } = event.currentTarget;
      const value = Math.round(Number(text));
      const ok = value >= 1 && value <= count;
      refuse(ok || !text ? "" : none(text, count));
      if (!ok && text) return;
      if (other) go(address(summary.id, "diff", turn, ...(ok ? [value] : [])));
      else if (ok) go(address(summary.id, "diff", value, ...(against ? [against] : [])));
    };
    return html`<div class="filters">
      <span class="field"><label for="diff-turn">Turn</label><input id="diff-turn" type="number" min="1" max=${count} value=${turn} onChange=${(event) => choose(event, false)} /></span>
      ${!report && html`<span class="field"><label for="diff-against">against turn</label><input id="diff-against" class="roomy" type="number" min="1" max=${count} value=${against || ""} placeholder="what the agent sent" onChange=${(event) => choose(event, true)} /></span>`}
      ${against && html`<a class="button" href=${address(summary.id, "diff", turn)}>One turn only</a>`}
      <${Steps} summary=${summary} turn=${turn} against=${against} />
      <span role="status" class="error" data-refused>${refused || wrong}</span>
    </div>`;
  }

  function Shown({ document }) {
    const two = known(document.against);
    const lead = two
      ? `The model got ${whole(document.by_tag.reduce((sum, one) => sum + one.before, 0))} tokens in turn ${document.against}, and ${whole(document.sent)} in turn ${document.turn}.`
      : `The agent sent ${whole(document.received)} tokens, the model got ${whole(document.sent)}. ${plural(document.changes.length, "change")}` +
        (document.left_out ? `, ${plural(document.left_out, "message")} left out.` : ".");
    return html`<p class="lead" data-diff=${document.turn} data-against=${two ? document.against : ""} data-received=${document.received} data-sent=${document.sent} data-changes=${document.changes.length}>${lead}</p>
      ${two && html`<${Between} document=${document} />`}
      <${Changes} document=${document} two=${two} />`;
  }

  function Diff({ summary, rest }) {
    const { count } = summary.turns;
    const chosen = (text) => (Number(text) >= 1 && Number(text) <= count ? Math.round(Number(text)) : null);
    const turn = chosen(rest[0]) || (report && !rest[0] && Math.max(0, ...heldOf(summary))) || count;
    const against = chosen(rest[1]);
    const unknown = rest.find((text) => !chosen(text));
    const path = `sessions/${summary.id}/diff?turn=${turn}` + (against ? `&against=${against}` : "");
    const { document, failure } = useDocument(count && has(path) ? path : null, turn === count ? count : 0);
    if (!count) return html`<${Empty}>No request yet: there is nothing to compare.<//>`;
    return html`<${Turns} summary=${summary} turn=${turn} against=${against} wrong=${unknown === undefined ? "" : none(unknown, count)} />
      ${!has(path) ? html`<${Empty}>This report holds the diffs of the newest turns that changed something, and turn ${turn} is none of them.<//>`
        : document ? html`<${Stale} failure=${failure} /><${Shown} key=${path} document=${document} />` : html`<${Waiting} failure=${failure} what="the diff" />`}`;
  }

  page.views = Object.assign(page.views || {}, { diff: Diff });
})((window.ctxgc = window.ctxgc || {}));
