// All cells of a session, however many: found, put in order, looked into.
// Rule: what is counted above the table is what the table holds.
"use strict";
(function (page) {
  const { html, useMemo, useEffect, useRef } = window.htmPreact;
  const { line, brief, whole, price, plural } = page.text;
  const { Waiting, Stale } = page.parts;
  const { Grid } = page.grid;
  const { Pane } = page.cell;
  const { address, go, useDocument, useKept } = page.hooks;
  const NOTHING = { text: "", tag: "", site: "", generation: "", verdict: "", resident: "" };

  // Which entries of a list of names hold a text.
  const holding = (names, text) => Uint8Array.from(names, (name) => (name.toLowerCase().includes(text) ? 1 : 0));

  // Row numbers that a filter lets through.
  function matching(cells, filter) {
    const { columns } = cells;
    const text = filter.text.trim().toLowerCase();
    const [inSites, inTags] = text ? [holding(cells.sites, text), holding(cells.tags, text)] : [null, null];
    const placed = (names, name) => (name ? names.indexOf(name) : -1);
    const [tag, site] = [placed(cells.tags, filter.tag), placed(cells.sites, filter.site)];
    const [generation, verdict] = [placed(cells.generations, filter.generation), placed(cells.verdicts, filter.verdict)];
    const resident = filter.resident === "" ? null : Number(filter.resident);
    const rows = [];
    for (let i = 0; i < columns.id.length; i += 1) {
      if (filter.tag && columns.tag[i] !== tag) continue;
      if (filter.site && columns.site[i] !== site) continue;
      if (filter.generation && columns.generation[i] !== generation) continue;
      if (filter.verdict && columns.verdict[i] !== verdict) continue;
      if (resident !== null && columns.resident[i] !== resident) continue;
      if (text && !inSites[columns.site[i]] && !inTags[columns.tag[i]] && "c" + columns.id[i] !== text && columns.handle[i] !== text) continue;
      rows.push(i);
    }
    return rows;
  }

  function total(cells, rows) {
    const { tokens, sent, resident } = cells.columns;
    let [all, kept] = [0, 0];
    for (const i of rows) {
      all += tokens[i];
      if (resident[i]) kept += sent[i];
    }
    return { all, kept };
  }

  function Choice({ label, name, names, filter, set }) {
    const field = "filter-" + name;
    return html`<span class="field"><label for=${field}>${label}</label>
      <select id=${field} value=${filter[name]} onChange=${(event) => set({ [name]: event.currentTarget.value })}>
        <option value="">all</option>
        ${names.map(([value, shown]) => html`<option key=${value} value=${value} selected=${filter[name] === value}>${brief(shown, 60)}</option>`)}
      </select></span>`;
  }

  const same = (names) => names.slice().sort().map((name) => [name, name]);

  function Filters({ cells, filter, set }) {
    const narrowed = Object.keys(NOTHING).some((name) => filter[name]);
    return html`<div class="filters" role="search" aria-label="Cells">
      <span class="field"><label for="filter-text">Find</label>
        <input id="filter-text" type="search" value=${filter.text} placeholder="site, tag, c12, handle" spellcheck="false" autocomplete="off"
          onInput=${(event) => set({ text: event.currentTarget.value })} /></span>
      <${Choice} label="Tag" name="tag" names=${same(cells.tags)} filter=${filter} set=${set} />
      <${Choice} label="Generation" name="generation" names=${cells.generations.map((name) => [name, name])} filter=${filter} set=${set} />
      <${Choice} label="Resident" name="resident" names=${[["1", "in the newest request"], ["0", "gone"]]} filter=${filter} set=${set} />
      <${Choice} label="Verdict" name="verdict" names=${same(cells.verdicts)} filter=${filter} set=${set} />
      ${filter.site && html`<span class="field">Site: <code>${brief(filter.site, 60)}</code></span>`}
      ${narrowed && html`<button type="button" data-clear onClick=${() => set(NOTHING)}>Clear</button>`}
    </div>`;
  }

  // Ranks of names, so that rows sort by name without comparing texts again and again.
  function ranks(names) {
    const order = names.map((_, i) => i).sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0));
    const rank = new Int32Array(names.length);
    order.forEach((index, place) => { rank[index] = place; });
    return rank;
  }

  function columnsOf(cells) {
    const { columns, usd } = cells;
    const number = (key, title, width, says, show) => ({ key, title, width, says, number: true, value: (i) => columns[key][i], show: (i) => (show || whole)(columns[key][i]) });
    const named = (key, title, width, names, most) => {
      const rank = ranks(names);
      return { key, title, width, value: (i) => rank[columns[key][i]], show: (i) => brief(names[columns[key][i]], most) };
    };
    return [
      { key: "id", title: "Cell", width: 9, value: (i) => columns.id[i], show: (i) => "c" + columns.id[i] },
      number("turn", "Turn", 7, "The request it arrived with", String),
      named("tag", "Tag", 19, cells.tags, 60),
      Object.assign(named("site", "Site", 24, cells.sites, 160), { grow: true }),
      number("tokens", "Tokens", 9, "As it was received"),
      number("sent", "Forwarded", 12, "Tokens of what stands for it"),
      named("verdict", "Verdict", 22, cells.verdicts, 80),
      number("retained", "Retained", 12, "Freed if it went, with what it alone keeps, less the stub left behind"),
      number("sent_turns", "Token-turns forwarded", 24, "Tokens times the requests that held it, as it was forwarded"),
      number("token_turns", "Token-turns received", 23, "Tokens times the requests that held it, as it was received"),
      number("cost", usd ? "Cost, USD" : "Cost", 13, usd ? "What it has cost so far" : "What it has cost so far, in tokens at the full input price", (value) => price(value, usd)),
      number("references", "Refs", 9, "References to it"),
      number("referenced", "Last ref", 11, "The request of the newest reference", (value) => (value ? String(value) : "–")),
      named("kind", "Kind", 11, cells.kinds, 20),
      named("generation", "Generation", 14, cells.generations, 20),
      { key: "resident", title: "Resident", width: 12, value: (i) => columns.resident[i], show: (i) => (columns.resident[i] ? "yes" : "no") + (columns.pinned[i] ? ", pinned" : "") },
      { key: "handle", title: "Handle", width: 20, value: (i) => columns.handle[i], show: (i) => line(columns.handle[i]) || "–" },
    ];
  }

  function Found({ summary, cells, chosen, tick }) {
    const [filter, keepFilter] = useKept("filter:" + summary.id, NOTHING);
    const wanted = Object.assign({}, NOTHING, filter);
    const set = (change) => keepFilter(Object.assign({}, wanted, change));
    const rows = useMemo(() => matching(cells, wanted), [cells, ...Object.keys(NOTHING).map((name) => wanted[name])]);
    const sums = useMemo(() => total(cells, rows), [rows]);
    const columns = useMemo(() => columnsOf(cells), [cells]);
    const places = useMemo(() => new Map(cells.columns.id.map((id, i) => [id, i])), [cells]);
    const selected = places.get(chosen);
    const pane = useRef(null);
    useEffect(() => {
      if (selected !== undefined && pane.current && matchMedia("(max-width: 1100px)").matches) pane.current.scrollIntoView({ block: "start" });
    }, [chosen, selected === undefined]);
    return html`<${Filters} cells=${cells} filter=${wanted} set=${set} />
      <p class="lead" role="status" data-found=${rows.length} data-tokens=${sums.all} data-resident=${sums.kept}>
        ${whole(rows.length)} of ${plural(cells.columns.id.length, "cell")} · ${whole(sums.all)} tokens received · ${whole(sums.kept)} forwarded with the newest request</p>
      <div class=${"beside" + (selected === undefined ? "" : " open")}>
        <${Grid} name=${"cells:" + summary.id} tall caption="Cells; Enter opens one" first=${{ key: "sent_turns", descending: true }} columns=${columns} rows=${rows} version=${cells} selected=${selected}
          select=${(i) => go(address(summary.id, "cells", cells.columns.id[i]))} rowAttrs=${(i) => ({ "data-cell": cells.columns.id[i] })} />
        <div class="pane-place" ref=${pane}>
          ${selected !== undefined
            ? html`<${Pane} key=${chosen} summary=${summary} cells=${cells} index=${selected} tick=${tick} />`
            : html`<p class="hint">${Number.isNaN(chosen) ? "Choose a cell to see what keeps it alive." : `There is no cell c${chosen} in this session.`}</p>`}
        </div>
      </div>`;
  }

  function Cells({ summary, rest, tick }) {
    const { document, failure } = useDocument("sessions/" + summary.id + "/cells", tick);
    if (!document) return html`<${Waiting} failure=${failure} what="the cells" />`;
    return html`<${Stale} failure=${failure} /><${Found} summary=${summary} cells=${document} chosen=${rest.length ? Number(rest[0]) : NaN} tick=${tick} />`;
  }

  page.views = Object.assign(page.views || {}, { cells: Cells });
})((window.ctxgc = window.ctxgc || {}));
