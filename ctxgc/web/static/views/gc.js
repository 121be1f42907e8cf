// The log of collections: before and after, what each was worth, what was expected and what was billed.
// Rule: a total is the sum of the rows above it, and says so.
"use strict";
(function (page) {
  const { html, useMemo } = window.htmPreact;
  const { line, brief, whole, share, price, clock, plural, known, round } = page.text;
  // What sets a collection off, as the log names it.
  const TRIGGERS = [["rent", "keeping the garbage had come to cost more than the rewrite"], ["window", "the window was nearly full"],
    ["quality", "the context was longer than is good for the answers"], ["milestone", "a sub-task was done"], ["asked", "somebody asked for it"], ["cold", "the cache had run out anyway"]];
  const { Empty } = page.parts;
  const { Grid, range } = page.grid;
  const { turnScale, valueScale, ticks, marks, kindOf, MARKS } = page.geometry;
  const { address, go, useWidth } = page.hooks;
  const [LEFT, TOP, BOTTOM] = [46, 12, 180];

  const named = (one) => (one.span ? "span left out" : one.generation);

  // The saw: forwarded tokens turn by turn, and at a collection the drop from what it would have been.
  function saw(summary, turns, y) {
    const drops = new Map();
    for (const one of summary.collections) {
      const known_before = drops.get(one.turn);
      drops.set(one.turn, Math.max(known_before || 0, one.context_before || 0));
    }
    const points = [];
    summary.turns.sent_total.forEach((sent, i) => {
      const before = drops.get(i + 1);
      if (before > sent) points.push(turns.x(i + 1) + " " + y(before));
      points.push(turns.x(i + 1) + " " + y(sent));
    });
    return points.length ? "M" + points.join("L") : "";
  }

  function Saw({ summary }) {
    const [element, width] = useWidth(1000);
    const { count } = summary.turns;
    const drawing = useMemo(() => {
      const most = summary.collections.reduce((top, one) => Math.max(top, one.context_before || 0), summary.turns.sent_total.reduce((a, b) => Math.max(a, b || 0), 1));
      const turns = turnScale(count, LEFT, width - 12);
      const y = valueScale(most, TOP, BOTTOM);
      const of = (kind) => summary.collections.filter((one) => kindOf(one) === kind).map((one) => [turns.x(one.turn), y(one.context_after || 0)]);
      return html`<g>
        ${ticks(most).map((value) => html`<g key=${value}><path class="gridline" d=${`M${LEFT} ${y(value)}H${width - 12}`} /><text class="tick" x=${LEFT - 6} y=${y(value) + 4}>${round(value)}</text></g>`)}
        <path class="total" d=${saw(summary, turns, y)} />
        ${Object.entries(MARKS).map(([kind, [shape, size]]) => html`<path key=${kind} class=${"mark " + kind} d=${marks(of(kind), size, shape)} />`)}
        ${ticks(count).filter((turn) => turn >= 1 && Number.isInteger(turn)).map((turn) => html`<text key=${turn} class="tick turn" x=${turns.x(turn)} y=${BOTTOM + 16}>${whole(turn)}</text>`)}
      </g>`;
    }, [summary, width]);
    return html`<div class="figure-box" ref=${element}><svg class="saw" role="img" width=${width} height=${BOTTOM + 22} viewBox=${`0 0 ${width} ${BOTTOM + 22}`} data-chart="saw" data-count=${count}
      aria-label=${`Forwarded tokens over ${plural(count, "turn")}, with ${plural(summary.collections.length, "collection")}; the table below has the figures`}>${drawing}</svg></div>`;
  }

  const sum = (rows, value) => rows.reduce((total, one) => total + (value(one) || 0), 0);

  // Totals over the rows; throughput is what was collected of all that was collected or sent again because of it.
  function Totals({ summary }) {
    const rows = summary.collections;
    const collected = sum(rows, (one) => one.before - one.after);
    const rewritten = sum(rows, (one) => one.rewritten);
    const all = collected + rewritten;
    const count = (kind) => rows.filter((one) => kindOf(one) === kind).length;
    const usd = rows.length > 0 && rows.every((one) => one.usd);
    const items = [
      ["collections", "In all", whole(rows.length), rows.length],
      ...[["eden", "Eden edits"], ["minor", "Minor"], ["major", "Major"], ["span", "Spans left out"]].map(([kind, name]) => [kind, name, whole(count(kind)), count(kind)]),
      ["collected", "Collected tokens", whole(collected), collected],
      ["rewritten", "Rewritten tokens", whole(rewritten), rewritten],
      ["saving", usd ? "Saving a turn, USD" : "Saving a turn", price(sum(rows, (one) => one.saving), usd), sum(rows, (one) => one.saving)],
      ["throughput", "GC throughput", all > 0 ? share(collected / all) : "–", all > 0 ? collected / all : null],
    ];
    return html`<dl class="facts totals">${items.map(([key, name, shown, raw]) => html`<div key=${key}><dt>${name}</dt><dd data-total=${key} data-value=${known(raw) ? String(raw) : ""}>${shown}</dd></div>`)}</dl>
      <p class="dim">Sums of the rows below. GC throughput: tokens collected, of those collected or rewritten.</p>`;
  }

  const pair = (one) => (one ? `${whole(one.read)} + ${whole(one.written)}` : "–");
  const spanText = (one) => (one.span ? `turns ${one.span.first}–${one.span.last}, ${one.span.by} ${one.span.handle}` : "");

  function columnsOf(summary) {
    const rows = summary.collections;
    const column = (key, title, width, show, value, more) => Object.assign({ key, title, width, show: (i) => show(rows[i]), value: value && ((i) => value(rows[i])) }, more);
    const number = (key, title, width, says, show) => column(key, title, width, (one) => (show ? show(one) : whole(one[key])), (one) => one[key], { number: true, says });
    return [
      column("turn", "Turn", 7, (one) => html`<a tabindex="-1" href=${address(summary.id, "diff", one.turn)}>${one.turn}</a>`, (one) => one.turn, { number: true }),
      column("generation", "Generation", 12, (one) => line(named(one)), named, { says: "eden: before anybody had forwarded it; minor: cells of the last turns; major: older ones too" }),
      column("trigger", "Trigger", 10, (one) => line(one.trigger || "–"), (one) => one.trigger, { says: TRIGGERS.map(([name, says]) => `${name}: ${says}`).join("; ") }),
      number("cells", "Cells", 7),
      column("before", "Collected", 15, (one) => `${whole(one.before)} → ${whole(one.after)}`, (one) => one.before - one.after, { number: true, says: "Tokens of the cells collected, before → after; sorts by what went" }),
      column("context", "Context", 16, (one) => `${whole(one.context_before)} → ${whole(one.context_after)}`, (one) => one.context_before - one.context_after, { number: true, says: "Tokens of the whole request, before → after" }),
      number("rewritten", "Rewritten", 11, "Tokens sent again outside the cache because of it"),
      number("rent", "Rent", 12, "What the garbage had cost since it was due", (one) => price(one.rent, one.usd)),
      number("price", "Price", 14, "What it costs once to rewrite what stands behind", (one) => price(one.price, one.usd)),
      number("saving", "Saving", 12, "What each later turn saves", (one) => price(one.saving, one.usd)),
      column("predicted", "Predicted", 15, (one) => pair(one.predicted), (one) => one.predicted && one.predicted.read + one.predicted.written, { number: true, says: "Input tokens expected: read from the cache + written" }),
      column("billed", "Billed", 15, (one) => pair(one.billed), (one) => one.billed && one.billed.read + one.billed.written, { number: true, says: "Input tokens as the provider billed them: read from the cache + written" }),
      column("at", "At", 10, (one) => clock(one.at), (one) => one.at),
      column("span", "Span", 30, (one) => line(spanText(one)) || "–", spanText, { grow: true }),
    ];
  }

  function noteColumns(summary) {
    const { notes } = summary;
    return [
      { key: "turn", title: "Turn", width: 8, number: true, value: (i) => notes[i].turn, show: (i) => html`<a tabindex="-1" href=${address(summary.id, "diff", notes[i].turn)}>${notes[i].turn}</a>` },
      { key: "at", title: "At", width: 10, value: (i) => notes[i].at, show: (i) => clock(notes[i].at) },
      { key: "kind", title: "Kind", width: 16, value: (i) => notes[i].kind, show: (i) => line(notes[i].kind) },
      { key: "text", title: "What", width: 40, grow: true, value: (i) => notes[i].text, show: (i) => html`<span title=${brief(notes[i].text, 600)}>${brief(notes[i].text, 300)}</span>` },
    ];
  }

  // The words of the table, for whoever has no pointer to rest on a heading.
  function Words() {
    return html`<p class="dim" data-words>Collected, context: tokens before → after. Predicted, billed: input tokens read from the cache + written. Rent: what the garbage had cost since it was due.
      Price: what it costs once to rewrite what stands behind it. Saving: what each later turn saves. Triggers: ${TRIGGERS.map(([name, says], i) => html`${i > 0 && "; "}<b>${name}</b>, ${says}`)}.</p>`;
  }

  // Why the table is empty; what would fill it is only said of a session that goes on.
  function Nothing({ summary }) {
    return html`<${Empty}>Nothing was collected in this session.${summary.live && !summary.plain && html` While it goes on, garbage is collected once keeping it has cost as much as rewriting what stands behind it would; under <code>policy = "observe"</code>, never.`}<//>`;
  }

  function Gc({ summary }) {
    const rows = useMemo(() => range(summary.collections.length).reverse(), [summary.collections.length]);
    const notes = useMemo(() => range(summary.notes.length).reverse(), [summary.notes.length]);
    const bypassed = Object.entries(summary.bypassed);
    return html`
      ${summary.plain && html`<p class="lead"><b>All edits were taken back:</b> the session goes on as it came.</p>`}
      <section class="card"><h2>Forwarded, with collections</h2>
        ${rows.length > 0 && html`<${Totals} summary=${summary} />`}
        ${summary.turns.count > 0 && html`<${Saw} summary=${summary} />`}
        ${rows.length === 0 ? html`<${Nothing} summary=${summary} />` : html`<${Words} />
            <${Grid} name=${"gc:" + summary.id} caption="Collections, the newest first; Enter opens the turn’s diff" columns=${columnsOf(summary)} rows=${rows} version=${summary}
              select=${(i) => go(address(summary.id, "diff", summary.collections[i].turn))} rowAttrs=${(i) => ({ "data-collection": i, "data-collected-at": summary.collections[i].turn })} />`}
      </section>
      <section class="card"><h2>Notes</h2>
        ${notes.length === 0 ? html`<p class="dim">None.</p>` : html`<${Grid} name=${"notes:" + summary.id} caption="Notes, the newest first; Enter opens the turn’s diff" columns=${noteColumns(summary)} rows=${notes} version=${summary}
          select=${(i) => go(address(summary.id, "diff", summary.notes[i].turn))} rowAttrs=${(i) => ({ "data-note": i })} />`}
        ${bypassed.length > 0 && html`<h3>Requests that went on as they came</h3><ul>${bypassed.map(([reason, count]) => html`<li key=${reason} data-bypassed=${reason}>${whole(count)}: ${line(reason)}</li>`)}</ul>`}
      </section>`;
  }

  page.views = Object.assign(page.views || {}, { gc: Gc });
})((window.ctxgc = window.ctxgc || {}));
