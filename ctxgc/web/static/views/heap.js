// The heap: what the context is made of, turn by turn.
// Rule: every figure is the document's own, and stands in a table too.
"use strict";
(function (page) {
  const { html, useMemo, useState } = window.htmPreact;
  const { line, whole, clock, own, known, price, brief } = page.text;
  const { Tile, Empty, Table } = page.parts;
  const { Grid, range } = page.grid;
  const { Swatch, assign } = page.palette;
  const { address, go, keep, useWidth, useKept } = page.hooks;
  const { Chart, saying, limitsOf } = page.heap;
  const { marks, MARKS } = page.geometry;

  function Legend({ summary, numbers, turn }) {
    const { turns } = summary;
    const value = (values, family) => whole((own(values, family) || [])[turn - 1]);
    const rows = summary.families.slice().reverse();
    const columns = [
      { key: "family", title: "Family", show: (family) => html`<${Swatch} number=${numbers.get(family)} /> ${line(family)}` },
      { key: "received", title: "Received", number: true, show: (family) => value(turns.received, family) },
      { key: "sent", title: "Forwarded", number: true, show: (family) => value(turns.sent, family) },
    ];
    return html`<${Table} caption=${`Tokens of turn ${turn} by family`} columns=${columns} rows=${rows} rowAttrs=${(family) => ({ "data-family": family })} />`;
  }

  // Limits in figures too: a line far above the chart is not drawn.
  function Marks({ summary }) {
    const sample = ([style, [shape, size, says]]) => html`<span key=${style} class="sample"><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
      <path class=${"mark " + style} d=${marks([[5, 6]], size, shape)} /></svg> ${says}</span>`;
    return html`<p class="key">${Object.entries(MARKS).map(sample)}${limitsOf(summary).map(([name, value]) => html`<span key=${name} data-limit-value=${value}> · ${name} ${whole(value)}</span>`)}</p>`;
  }

  // The order on the page: what it brings, where the context stands, then how that comes about.
  const FIRST = ["net", "context_now", "window_left", "turns_left", "reduction", "received", "sent", "rewritten", "recalled", "billed", "cache_hits", "estimate_error"];
  const placeOf = (tile) => (FIRST.indexOf(tile.id) + FIRST.length) % FIRST.length;
  const ordered = (tiles) => tiles.slice().sort((a, b) => placeOf(a) - placeOf(b));

  const billed = (turns, i) => (known(turns.reported[i]) ? whole(turns.reported[i]) : "–");

  // One row for every turn; the columns that a chart cannot show are here as well.
  function turnColumns(summary) {
    const { turns } = summary;
    const usd = summary.tiles.some((tile) => tile.id === "net" && tile.unit === "usd");
    const number = (key, title, width, values, says) => ({ key, title, width, number: true, says, show: (i) => whole(values[i]), value: (i) => values[i] });
    return [
      { key: "turn", title: "Turn", width: 8, number: true, value: (i) => i, show: (i) => html`<a href=${address(summary.id, "diff", i + 1)} tabindex="-1">${i + 1}</a>` },
      { key: "at", title: "At", width: 10, value: (i) => turns.at[i], show: (i) => clock(turns.at[i]) },
      number("received", "Received", 11, turns.received_total),
      number("sent", "Forwarded", 12, turns.sent_total),
      number("fresh", "New", 9, turns.fresh, "Tokens that arrived with this request"),
      number("fresh_sent", "New, forwarded", 17, turns.fresh_sent, "What they were forwarded as"),
      number("prefix", "As before", 12, turns.prefix_sent, "Tokens that begin the request as they began the one before"),
      { key: "billed", title: "Billed input", width: 14, number: true, says: "Input tokens as the provider billed them", value: (i) => turns.reported[i], show: (i) => billed(turns, i) },
      number("cached", "Cache hits", 13, turns.cached, "Input tokens that the provider read from its cache"),
      number("output", "Output", 10, turns.output),
      { key: "net", title: "Net saving", width: 13, number: true, says: "What the session would have cost untouched, less what it cost: up to this turn", value: (i) => turns.net[i], show: (i) => price(turns.net[i], usd) },
      { key: "outcome", title: "Outcome", width: 12, value: (i) => turns.outcome[i], show: (i) => line(turns.outcome[i]) + (turns.again[i] ? ", again" : "") },
      { key: "model", title: "Model", width: 20, grow: true, value: (i) => turns.model[i], show: (i) => line(summary.models[turns.model[i]] || "–") },
    ];
  }

  // Rows of a profile: tags or sites.
  function Rows({ summary, kind, rows }) {
    const number = (key, title, width, says) => ({ key, title, width, number: true, says, show: (i) => whole(rows[i][key]), value: (i) => rows[i][key] });
    const name = { key: "name", title: kind === "tag" ? "Tag" : "Site", width: 30, slim: 16, grow: true, value: (i) => rows[i].name, show: (i) => html`<span title=${brief(rows[i].name, 400)}>${brief(rows[i].name, 200)}</span>` };
    const columns = [
      name,
      number("tokens", "Tokens", 10, "Received for the first time"),
      number("resident", "Resident", 11, "What the newest request forwards of them"),
      number("token_turns", "Token-turns received", 23, "Tokens times the requests that held them, as they were received"),
      number("sent_turns", "Token-turns forwarded", 24, "Tokens times the requests that held them, as they were forwarded"),
      number("retained", "Retained", 12, "What would be freed if the resident ones went"),
      number("resent", "Resent", 11, "Received again, after the first time"),
      number("cells", "Cells", 9),
    ];
    const all = useMemo(() => range(rows.length), [rows]);
    function open(i) {
      keep("filter:" + summary.id, { [kind]: rows[i].name });
      go(address(summary.id, "cells"));
    }
    return html`<${Grid} name=${"by-" + kind + ":" + summary.id} caption=${`Cells by ${kind}; Enter lists them`} columns=${columns} rows=${all} version=${rows}
      select=${open} rowAttrs=${(i) => ({ ["data-" + kind]: rows[i].name })} />`;
  }

  function Over({ summary }) {
    const numbers = useMemo(() => assign(summary.families), [summary.families.join("\n")]);
    const [element, width] = useWidth(1000);
    const [chosen, choose] = useKept("turn:" + summary.id, 0);
    const [apart, setApart] = useState(false);
    const { count } = summary.turns;
    const turn = chosen >= 1 && chosen <= count ? chosen : count;
    const open = (at) => go(address(summary.id, "diff", at));
    return html`<section class="card" aria-labelledby="over-time">
      <h2 id="over-time">Tokens per turn</h2>
      <div class="drawing">
        <div class="figure-box" ref=${element}>
          <${Chart} summary=${summary} numbers=${numbers} width=${width} turn=${turn} setTurn=${choose} open=${open} apart=${apart} />
        </div>
        <${Legend} summary=${summary} numbers=${numbers} turn=${turn} />
      </div>
      <p class="standing" data-standing>${saying(summary, turn)} · <a href=${address(summary.id, "diff", turn)}>open its diff</a></p>
      <${Marks} summary=${summary} />
      <p><label><input type="checkbox" checked=${apart} onChange=${(event) => setApart(event.currentTarget.checked)} /> a scale of its own for each half</label></p>
    </section>`;
  }

  function Heap({ summary }) {
    const { count } = summary.turns;
    const rows = useMemo(() => range(count).reverse(), [count]);
    return html`
      <ul class="tiles" aria-label="Figures">${ordered(summary.tiles).map((tile) => html`<${Tile} key=${tile.id} tile=${tile} />`)}</ul>
      ${count === 0 ? html`<${Empty}>No request yet: the chart begins with the first one that goes through the proxy.<//>` : html`
        <${Over} summary=${summary} />
        <section class="card"><h2>Turns</h2>
          <${Grid} name=${"turns:" + summary.id} caption="Turns, the newest first; Enter opens the diff" columns=${turnColumns(summary)} rows=${rows} version=${summary}
            select=${(i) => go(address(summary.id, "diff", i + 1))} rowAttrs=${(i) => ({ "data-turn": i + 1 })} /></section>
        <section class="card"><h2>By tag</h2>
          <p class="dim">Who put it there. Token-turns: tokens times the requests that carried them, which is what is paid for; resident: what the newest request forwards of them.</p><${Rows} summary=${summary} kind="tag" rows=${summary.by_tag} /></section>
        <section class="card"><h2>By site</h2>
          <p class="dim">What brought it: a tool with its arguments, or who wrote it.</p><${Rows} summary=${summary} kind="site" rows=${summary.by_site} /></section>`}`;
  }

  page.views = Object.assign(page.views || {}, { heap: Heap });
})((window.ctxgc = window.ctxgc || {}));
