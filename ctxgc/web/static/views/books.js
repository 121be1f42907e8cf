// The ledger: what stands, what is only claimed, and the bytes that prove it.
// Rule: a claim is never listed among the facts, and "agrees" is said only of hashes that were computed again.
"use strict";
(function (page) {
  const { html, useState, useMemo } = window.htmPreact;
  const { line, block, brief, whole, moment, plural } = page.text;
  const { Waiting, Stale, Empty, Table } = page.parts;
  const { Grid, range } = page.grid;
  const { useDocument, useKept } = page.hooks;
  const { report, has, load } = page.documents;
  const KINDS = [["current", "Facts that stand"], ["superseded", "Superseded"], ["withdrawn", "Withdrawn"], ["claim", "Claims: nobody has verified them"]];

  function factColumns(facts) {
    const column = (key, title, width, show, more) => Object.assign({ key, title, width, value: (i) => facts[i][key], show: (i) => (show ? show(facts[i]) : line(facts[i][key] || "–")) }, more);
    return [
      column("id", "Fact", 10),
      column("statement", "Statement", 50, (one) => html`<span title=${brief(one.statement, 600)}>${brief(one.statement, 300)}</span>`, { grow: true }),
      column("type", "Type", 14), column("criticality", "Criticality", 13), column("author", "By", 14),
      column("at", "At", 21, (one) => moment(one.at)),
      column("period", "Period", 10),
      column("superseded_by", "Superseded by", 15),
      { key: "source", title: "Vouchers", width: 18, value: (i) => facts[i].source.length, show: (i) => line(facts[i].source.map((one) => one.artifact).join(", ")) || "–" },
    ];
  }

  // Where in a voucher a verifier saw it; bytes are counted from 0, lines from 1.
  const place = (one, l) => `${l}ines ${whole(one.line_first)} to ${whole(one.line_last)} (bytes ${whole(one.first)} to ${whole(one.last)})`;

  function Source({ one, index }) {
    return html`<article class="card" data-source=${one.artifact} data-agree=${String(one.agree)}>
      <h3>${line(one.artifact)} <span class="site">${brief(one.ref, 300)}</span></h3>
      <p>${place(one, "L")} · <b class=${one.agree ? "good-text" : "bad-text"}>${one.agree ? "✓ the hash agrees" : "✗ the hash does not agree"}</b></p>
      <dl class="facts hashes"><div><dt>sha256 on record</dt><dd><code>${line(one.sha256)}</code></dd></div><div><dt>computed again</dt><dd><code>${line(one.recomputed || "–")}</code></dd></div></dl>
      ${one.slice === null ? html`<p class="dim">Its text is left out here.</p>` : html`<pre class="content" tabindex="0" role="region" aria-label=${"Evidence " + (index + 1)} data-text="slice">${block(one.slice)}</pre>`}
    </article>`;
  }

  // A fact, and the way from it to the bytes that a verifier saw.
  function Fact({ id, fact, tick }) {
    const path = `sessions/${id}/books/trace/${encodeURIComponent(fact.id)}`;
    const { document, failure } = useDocument(has(path) ? path : null, tick);
    const basis = fact.of ? ` of ${line(fact.of)}` : "";
    return html`<section class="pane card" aria-labelledby="fact-title" data-fact-pane=${fact.id}>
      <h2 id="fact-title">${line(fact.id)} <span class="tag">${line(fact.status)}${basis}</span></h2>
      <p class="statement">${line(fact.statement)}</p>
      ${fact.source.length > 0 && html`<ul>${fact.source.map((one, i) => html`<li key=${i}>${line(one.artifact)}, ${place(one, "l")}, seen by ${line(one.verifier)} ${line(one.version)}</li>`)}</ul>`}
      ${fact.status === "claim" && html`<p class="dim">A claim: there is nothing to trace until a verifier has seen it in a voucher.</p>`}
      ${document && document.sources.map((one, i) => html`<${Source} key=${i} one=${one} index=${i} />`)}
      ${!document && has(path) && html`<${Waiting} failure=${failure} what="its evidence" />`}
      ${!has(path) && fact.status !== "claim" && html`<p class="dim">A report does not hold the vouchers: <code>ctxgc trace ${line(fact.id)}</code> reads them.</p>`}
    </section>`;
  }

  function Facts({ id, document, tick }) {
    const [status, setStatus] = useKept("facts:" + id, "current");
    const [chosen, choose] = useKept("fact:" + id, null);
    const { facts } = document;
    const rows = useMemo(() => range(facts.length).filter((i) => facts[i].status === status), [facts, status]);
    const count = (kind) => facts.filter((one) => one.status === kind).length;
    const fact = facts.find((one) => one.id === chosen);
    return html`<section class="card"><h2>Facts</h2>
      <fieldset class="choices"><legend class="unseen">Which facts</legend>${KINDS.map(([kind, name]) => html`
        <label key=${kind}><input type="radio" name="status" value=${kind} checked=${status === kind} onChange=${() => setStatus(kind)} /> ${name} <b data-facts=${kind} data-value=${count(kind)}>${whole(count(kind))}</b></label>`)}</fieldset>
      ${rows.length === 0 ? html`<p class="dim">None of these.</p>` : html`
        <div class=${"beside" + (fact ? " open" : "")}>
          <${Grid} key=${status} name=${"facts-" + status + ":" + id} caption="Facts; Enter traces one to its bytes" columns=${factColumns(facts)} rows=${rows} version=${facts}
            selected=${fact ? facts.indexOf(fact) : undefined} select=${(i) => choose(facts[i].id)} rowAttrs=${(i) => ({ "data-fact": facts[i].id })} />
          <div class="pane-place">${fact && fact.status === status ? html`<${Fact} key=${fact.id} id=${id} fact=${fact} tick=${tick} />` : html`<p class="hint">Choose a fact to trace it to its bytes.</p>`}</div>
        </div>`}
    </section>`;
  }

  // What the last reconciliation found, and a new one if wanted.
  function Reconciled({ id, document }) {
    const [state, set] = useState({ busy: false, found: null, failure: null });
    const { reconciled } = document;
    async function check() {
      set({ busy: true, found: null, failure: null });
      try {
        set({ busy: false, found: await load(`sessions/${id}/books/reconcile`), failure: null });
      } catch (failure) {
        set({ busy: false, found: null, failure });
      }
    }
    const columns = [["fact", "Fact"], ["state", "State"], ["detail", "Detail"]].map(([key, title]) => ({ key, title, show: (row) => line(row[key] || "–") }));
    const stored = reconciled ? Object.entries(reconciled.findings).map(([fact, state]) => ({ fact, state, detail: "" })) : [];
    return html`<section class="card" data-reconciled=${reconciled ? "yes" : "never"}><h2>Reconciliation</h2>
      <p>${reconciled ? html`Last at ${moment(reconciled.at)}: ${whole(reconciled.match)} agree, ${whole(stored.length)} do not${reconciled.whole ? "" : "; not all of it was read"}.` : "Never reconciled: nobody has read the live sources again."}</p>
      ${stored.length > 0 && html`<${Table} caption="What was found" columns=${columns} rows=${stored} />`}
      ${!report && html`<p class="buttons"><button type="button" data-action="reconcile" aria-disabled=${state.busy} onClick=${() => !state.busy && check()}>Check now</button>
        <span role="status">${state.busy ? "Reading all vouchers again …" : state.found ? (state.found.ok ? "✓ Everything agrees." : "✗ Not everything agrees.") : ""}</span></p>`}
      ${state.failure && html`<p class="error" role="alert">${line(state.failure.message)}</p>`}
      ${state.found && html`<div data-reconcile-ok=${String(state.found.ok)}><${Table} caption="Checked just now" columns=${columns} rows=${state.found.rows} rowAttrs=${(row) => ({ "data-row": row.fact, "data-state": row.state })} /></div>`}
    </section>`;
  }

  function Lists({ document }) {
    const show = (key, title, as) => ({ key, title, show: (row) => (as ? as(row[key]) : line(row[key] || "–")) });
    const number = (key, title) => ({ key, title, number: true, show: (row) => whole(row[key]) });
    const code = (value) => html`<code>${line(value)}</code>`;
    const vouchers = [show("id", "Voucher"), show("ref", "Where it lives", (ref) => brief(ref, 200)), show("type", "Type"), number("size", "Bytes"), number("facts", "Facts"), show("at", "At", moment), show("sha256", "sha256", code)];
    const periods = [show("id", "Period"), show("milestone", "Milestone"), show("at", "Closed", moment), number("facts", "Facts"), show("lossy", "Opening", (lossy) => (lossy ? "some facts did not fit" : "whole"))];
    return html`
      <section class="card"><h2>Vouchers</h2>${document.vouchers.length ? html`<${Table} hideCaption caption=${plural(document.vouchers.length, "voucher")} columns=${vouchers} rows=${document.vouchers} rowAttrs=${(row) => ({ "data-voucher": row.id })} />` : html`<p class="dim">None.</p>`}</section>
      <section class="card"><h2>Periods</h2>${document.periods.length ? html`<${Table} hideCaption caption=${plural(document.periods.length, "period")} columns=${periods} rows=${document.periods} rowAttrs=${(row) => ({ "data-period": row.id })} />` : html`<p class="dim">None is closed.</p>`}</section>`;
  }

  const nothing = () => html`<${Empty}>This session has no ledger yet: it begins with the first milestone, fact or voucher. In Python: <code>ctxgc.open_ledger</code>; on the command line: <code>ctxgc ledger</code>.<//>`;

  function Books({ summary, tick }) {
    const { document, failure } = useDocument("sessions/" + summary.id + "/books", tick);
    if (!document && failure && failure.status === 404) return nothing();
    if (!document) return html`<${Waiting} failure=${failure} what="the books" />`;
    if (!document.facts.length && !document.vouchers.length && !document.periods.length) return nothing();
    return html`<${Stale} failure=${failure} />
      <p class="lead" data-ledger=${document.ledger}>Ledger <b>${line(document.ledger)}</b>: ${plural(document.facts.length, "entry", "entries")} on facts and claims, ${plural(document.vouchers.length, "voucher")}, ${plural(document.periods.length, "closed period")}.</p>
      <${Facts} id=${summary.id} document=${document} tick=${tick} />
      <${Reconciled} id=${summary.id} document=${document} />
      <${Lists} document=${document} />`;
  }

  page.views = Object.assign(page.views || {}, { books: Books });
})((window.ctxgc = window.ctxgc || {}));
