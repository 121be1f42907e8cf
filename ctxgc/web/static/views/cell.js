// One cell: what keeps it alive, what it was sent as, and what the host may do about it.
// Rule: the row is shown at once, as the table has it; text comes when the server gives it, and only ever as text.
"use strict";
(function (page) {
  const { html, useState } = window.htmPreact;
  const { line, block, brief, whole, price, own } = page.text;
  const COLLECTED = /^(pointer|stub|excerpt|evacuat|left out)/; // how the verdict on a cell begins that cannot be pinned any more
  const WRITTEN = new Set(["system_prompt", "user_turn", "agent_reply"]);
  const { Dialog, Action } = page.parts;
  const { act, report, has } = page.documents;
  const { address, useDocument } = page.hooks;

  // The row of a cell, spelled out.
  function rowOf(cells, i) {
    const { columns } = cells;
    return {
      i, id: columns.id[i], turn: columns.turn[i], tag: cells.tags[columns.tag[i]], site: cells.sites[columns.site[i]],
      kind: cells.kinds[columns.kind[i]], tokens: columns.tokens[i], sent: columns.sent[i], resident: columns.resident[i] === 1,
      retained: columns.retained[i], token_turns: columns.token_turns[i], sent_turns: columns.sent_turns[i], cost: columns.cost[i],
      references: columns.references[i], referenced: columns.referenced[i], generation: cells.generations[columns.generation[i]],
      pinned: columns.pinned[i] === 1, verdict: cells.verdicts[columns.verdict[i]], handle: columns.handle[i],
    };
  }

  const Link = ({ id, cell, children }) => html`<a href=${address(id, "cells", cell)} data-link-cell=${cell}>c${cell}</a>${children}`;

  function References({ id, title, list, name, none }) {
    return html`<h3>${title}</h3>
      ${list.length === 0 ? html`<p class="dim">${none}</p>` : html`<ul class="references" data-list=${name}>${list.map((one, i) => html`
        <li key=${i}><${Link} id=${id} cell=${one.cell} /> in <a href=${address(id, "diff", one.request)}>turn ${one.request}</a>
          ${one.site && html`<span class="site">${brief(one.site, 120)}</span>`}${one.evidence && html`<q>${brief(one.evidence, 240)}</q>`}</li>`)}</ul>`}`;
  }

  function Text({ title, text, name, cut }) {
    return html`<h3>${title}</h3>
      <pre class="content" tabindex="0" role="region" aria-label=${title} data-text=${name}>${block(text)}</pre>
      ${cut && html`<p class="dim">Only the beginning is shown. <code>ctxgc recall</code> gives all of it.</p>`}`;
  }

  // Both texts, or why there is none.
  function Texts({ document }) {
    if (document.text === null) return html`<p class="dim">Its text is left out here.</p>`;
    const same = document.sent_text === document.text;
    return html`<${Text} title=${same ? "Text, forwarded as it came" : "Text as it came"} name="received" text=${document.text} cut=${document.cut} />
      ${!same && (!document.sent_text
        ? html`<p class="dim">Nothing is forwarded for it.</p>`
        : html`<${Text} title="Text as it was forwarded" name="sent" text=${document.sent_text} cut=${document.cut} />`)}`;
  }

  // Why there is nothing to pin: empty where a pin can change something. The server has the last word.
  function unpinnable(row) {
    if (row.kind === "tool_schema" || WRITTEN.has(row.tag)) return "Never collected: it is sent as it is anyway.";
    if (row.kind === "tool_call") return "A call is collected with its result only: pin the result.";
    if (row.pinned) return "";
    if (!row.resident) return "Not in the newest request: there is nothing to keep.";
    return COLLECTED.test(row.verdict) ? "Collected already: recall it instead of pinning it." : "";
  }

  function Actions({ summary, row }) {
    const [recalled, show] = useState(null);
    const base = "sessions/" + summary.id + "/";
    const pin = async () => (await act(base + "pin", { cell: row.id, pinned: !row.pinned })).said;
    async function recall() {
      const found = await act(base + "recall", { handle: row.handle });
      show(found);
      return "recalled";
    }
    if (report) return null;
    if (!summary.actions.pin && !summary.actions.recall) return html`<p class="dim">The session is stored, not in memory: it can be looked at, not changed.</p>`;
    const why = unpinnable(row);
    return html`<p class="buttons">
      ${summary.actions.pin && why && html`<span class="dim" data-unpinnable>${why}</span>`}
      ${summary.actions.pin && !why && html`<${Action} key=${"pin" + row.id} name=${row.pinned ? "unpin" : "pin"} label=${row.pinned ? "Unpin: it may be collected" : "Pin: never collect it"} run=${pin} />`}
      ${summary.actions.recall && row.handle && html`<${Action} key=${"recall" + row.id} name="recall" label="Recall what was there" run=${recall} />`}
    </p>
    ${recalled && html`<${Dialog} title=${"Recalled " + line(recalled.handle)} close=${() => show(null)}>
      <pre class="content" tabindex="0" role="region" aria-label="Recalled text" data-text="recalled">${block(recalled.text)}</pre><//>`}`;
  }

  function Facts({ id, row, usd }) {
    const facts = [
      ["Arrived", html`with <a href=${address(id, "diff", row.turn)}>turn ${row.turn}</a>`], ["Kind", line(row.kind)], ["Tokens", whole(row.tokens)],
      ["Forwarded as", whole(row.sent)], ["Retained", whole(row.retained)], ["Token-turns received", whole(row.token_turns)], ["Token-turns forwarded", whole(row.sent_turns)],
      [usd ? "Cost so far" : "Cost so far, input tokens", price(row.cost, usd)], ["Generation", line(row.generation) + (row.pinned ? ", pinned" : "")],
      ["Verdict", line(row.verdict)], ["Handle", row.handle ? html`<code>${line(row.handle)}</code>` : "–"],
    ];
    return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
  }

  // What only the server knows of a cell.
  function More({ id, document }) {
    const { edit, partner } = document;
    const partnerId = partner === null || partner === undefined ? null : partner.id === undefined ? partner : partner.id;
    return html`
      ${document.explained && html`<p data-explained>${line(document.explained)}</p>`}
      <h3>Why it is alive</h3>
      ${document.why.length === 0 ? html`<p class="dim">Nothing keeps it.</p>` : html`<ul data-list="why">${document.why.map((one, i) => html`<li key=${i}>${line(one)}</li>`)}</ul>`}
      ${partnerId !== null && html`<p>Call and result go together: <${Link} id=${id} cell=${partnerId} /></p>`}
      ${edit && html`<p data-edit>Edited by <b>${line(edit.policy)}</b> (${line(edit.action)}): ${line(edit.reason)}${edit.handle && html` · <code>${line(edit.handle)}</code>`}</p>`}
      ${document.stale && html`<p>Out of date: ${line(document.stale)}</p>`}`;
  }

  // A cell's references as the table of cells has them: cell and request only.
  function keptBy(cells, number) {
    return (own(cells.kept_by, String(number)) || []).map(([cell, request]) => ({ cell, request }));
  }

  function Pane({ summary, cells, index, tick }) {
    const row = rowOf(cells, index);
    const path = "sessions/" + summary.id + "/cells/" + row.id;
    const { document, failure } = useDocument(has(path) ? path : null, tick);
    const id = summary.id;
    return html`<section class="pane card" aria-labelledby="cell-title" data-pane=${row.id}>
      <h2 id="cell-title">c${row.id} <span class="tag">${line(row.tag)}</span></h2>
      <p class="site">${brief(row.site, 2000)}</p>
      <p class="state"><b>${row.resident ? "Resident" : "Not in the newest request"}</b>${row.pinned && ", pinned"}</p>
      <${Actions} summary=${summary} row=${row} />
      <${Facts} id=${id} row=${row} usd=${cells.usd} />
      ${document && html`<${More} id=${id} document=${document} />`}
      <${References} id=${id} name="kept-by" title="Kept by references in" list=${document ? document.kept_by : keptBy(cells, row.id)} none="Nothing has referred to it." />
      ${document && html`<${References} id=${id} name="refers-to" title="Refers to" list=${document.refers_to} none="It refers to nothing." /><${Texts} document=${document} />`}
      ${!document && !failure && has(path) && html`<p class="waiting" aria-busy="true">Loading its text …</p>`}
      ${failure && html`<p class="error" role="status">${line(failure.message)}</p>`}
    </section>`;
  }

  page.cell = { Pane, Link };
})((window.ctxgc = window.ctxgc || {}));
