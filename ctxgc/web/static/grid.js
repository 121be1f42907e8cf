// A table of any length: only the rows in sight are in the page. Its rows are laid out each on its own (app.css), which
// keeps scrolling cheap and needs the roles to be said.
// Rule: a reader without a mouse gets to every row and every column's order, and is told how many rows there are.
"use strict";
(function (page) {
  const { html, useState, useRef, useMemo, useLayoutEffect } = window.htmPreact;
  const { useKept } = page.hooks;
  const ROW = 26; // pixels; app.css gives rows the same
  const SPARE = 12; // rows above and below what is in sight
  const STEP = 12; // the rows in the page change that many at a time: each change lays the table out again

  const compare = (a, b) => {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    return a < b ? -1 : 1;
  };

  // Row numbers in the order of a column; equal ones stay as they were, unknown ones come last.
  function sorted(rows, column, descending) {
    if (!column || !column.value) return rows;
    const value = new Map();
    for (const row of rows) value.set(row, column.value(row));
    const unknown = (row) => value.get(row) === null || value.get(row) === undefined;
    const turn = descending ? -1 : 1;
    return Array.from(rows).sort((a, b) => (unknown(a) || unknown(b) ? 1 : turn) * compare(value.get(a), value.get(b)) || a - b);
  }

  function Head({ columns, order, setOrder }) {
    const press = (one) => setOrder({ key: one.key, descending: order.key === one.key ? !order.descending : Boolean(one.number) });
    const state = (one) => (order.key !== one.key ? "none" : order.descending ? "descending" : "ascending");
    return html`<thead role="rowgroup"><tr role="row" aria-rowindex="1">${columns.map((one) => html`
      <th role="columnheader" scope="col" key=${one.key} class=${one.number ? "number" : ""} title=${one.says} aria-sort=${one.value ? state(one) : undefined}>
        ${one.value
          ? html`<button type="button" data-sort=${one.key} onClick=${() => press(one)}>${one.title}<span aria-hidden="true" class="arrow">${{ none: "", descending: " ▾", ascending: " ▴" }[state(one)]}</span></button>`
          : one.title}
      </th>`)}</tr></thead>`;
  }

  // One row. What it shows is made once, so that scrolling only makes what comes into sight.
  function Row({ id, columns, row, place, active, chosen, rowAttrs, pick, version }) {
    const choose = useRef(pick);
    choose.current = pick;
    return useMemo(() => html`<tr role="row" id=${id + "-" + row} aria-rowindex=${place + 2} aria-selected=${chosen}
      class=${(active ? "active " : "") + (place % 2 ? "odd" : "")} onClick=${() => choose.current(row)} ...${rowAttrs ? rowAttrs(row) : {}}>
      ${columns.map((one) => html`<td role="gridcell" key=${one.key} data-column=${one.key} class=${one.number ? "number" : ""}>${one.show(row)}</td>`)}
    </tr>`, [columns, row, place, active, chosen, version]);
  }

  // The rows in sight, with room above and below for the others.
  function Body({ id, columns, shown, first, total, active, selected, rowAttrs, pick, version }) {
    const room = (rows, key) => rows > 0 && html`<tr role="row" aria-hidden="true" key=${key} style=${{ height: rows * ROW + "px" }}></tr>`;
    return html`<tbody role="rowgroup">
      ${room(first, "above")}
      ${shown.map((row, i) => html`<${Row} key=${"r" + row} ...${{ id, columns, row, place: first + i, active: row === active, chosen: row === selected, rowAttrs, pick, version }} />`)}
      ${room(total - first - shown.length, "below")}
    </tbody>`;
  }

  // `rows` are row numbers; columns are {key, title, width (characters), slim (the same on a phone), number, says,
  // show(row), value(row)}; `select` gets the row number that was clicked or entered. `name` keeps order and place for when the reader comes back.
  function Grid({ name, caption, columns, rows, first, selected, select, rowAttrs, version, tall }) {
    const [order, setOrder] = useKept(name + ":order", first || { key: null, descending: false });
    const [place, setPlace] = useKept(name + ":place", 0);
    const [top, setTop] = useState(Math.floor(place / ROW));
    const [active, setActive] = useState(null);
    const [room, setRoom] = useState(30);
    const [beyond, setBeyond] = useState(false); // whether columns are out of sight at the right
    const scroller = useRef(null);
    const narrow = matchMedia("(max-width: 640px)").matches;
    const widthOf = (one) => (narrow && one.slim) || one.width;
    const column = columns.find((one) => one.key === order.key);
    const all = useMemo(() => sorted(rows, column, order.descending), [rows, order.key, order.descending, version]);
    const id = "grid-" + name.replace(/[^a-zA-Z0-9]/g, "-");

    useLayoutEffect(() => {
      const element = scroller.current;
      element.scrollTop = place;
      const measure = () => {
        setRoom(Math.ceil(element.clientHeight / ROW) || 30);
        look();
      };
      const observer = new ResizeObserver(measure);
      measure();
      observer.observe(element);
      return () => {
        page.hooks.keep(name + ":place", element.scrollTop);
        observer.disconnect();
      };
    }, []);

    const begin = Math.max(0, Math.floor((Math.min(top, all.length - room) - SPARE) / STEP) * STEP);
    const shown = all.slice(begin, begin + room + 2 * SPARE + STEP);
    const look = () => setBeyond(scroller.current.scrollLeft + scroller.current.clientWidth < scroller.current.scrollWidth - 8);
    const scroll = () => {
      setTop(Math.floor(scroller.current.scrollTop / ROW / STEP) * STEP);
      look();
    };

    // Whoever comes to a row by its address, or by a link beside the table, sees it.
    useLayoutEffect(() => {
      const [at, element] = [all.indexOf(selected), scroller.current];
      if (selected === null || selected === undefined || at < 0) return;
      const [y, seen] = [at * ROW, element.clientHeight - element.querySelector("thead").offsetHeight];
      setActive(selected);
      if (y >= element.scrollTop && y + ROW <= element.scrollTop + seen) return;
      element.scrollTop = Math.max(0, y - seen / 2);
      scroll();
    }, [selected]);

    function moveTo(position) {
      const to = Math.max(0, Math.min(all.length - 1, position));
      const element = scroller.current;
      const head = element.querySelector("thead").offsetHeight;
      const y = to * ROW;
      if (y < element.scrollTop) element.scrollTop = y;
      if (y + ROW + head > element.scrollTop + element.clientHeight) element.scrollTop = y + ROW + head - element.clientHeight + 12;
      scroll();
      setActive(all[to]);
    }
    function press(event) {
      if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey || !all.length) return;
      const current = active === null ? (selected === null || selected === undefined ? -1 : all.indexOf(selected)) : all.indexOf(active);
      const steps = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + room - 2, PageUp: current - room + 2, Home: 0, End: all.length - 1 };
      if (Object.hasOwn(steps, event.key)) moveTo(steps[event.key]);
      else if ((event.key === "Enter" || event.key === " ") && select && current >= 0) select(all[current]);
      else return;
      event.preventDefault();
    }
    function pick(row) {
      setActive(row);
      if (select) select(row);
    }
    const current = active !== null && shown.includes(active) ? id + "-" + active : undefined;
    const wide = columns.reduce((sum, one) => sum + widthOf(one), 0);
    const tracks = columns.map((one) => (one.grow ? `minmax(${widthOf(one)}ch, 1fr)` : widthOf(one) + "ch")).join(" ");
    return html`<div class=${"grid-box" + (beyond ? " beyond" : "")}><div class=${"scroller windowed" + (tall ? " tall" : "")} ref=${scroller} onScroll=${scroll} data-grid=${name.split(":")[0]} data-count=${all.length}>
      <table role="grid" tabindex="0" aria-label=${caption} aria-rowcount=${all.length + 1} aria-activedescendant=${current} onKeyDown=${press}
        class=${(select ? "choosable" : "") + (widthOf(columns[0]) <= 16 ? " held" : "")} style=${{ minWidth: wide + "ch", "--tracks": tracks }}>
        <caption class="unseen">${caption}</caption>
        <${Head} columns=${columns} order=${order} setOrder=${setOrder} />
        <${Body} ...${{ id, columns, shown, first: begin, total: all.length, active, selected, rowAttrs, pick, version }} />
      </table>
    </div></div>`;
  }

  // 0, 1, ... count - 1
  const range = (count) => Array.from({ length: count }, (_, i) => i);

  page.grid = { Grid, range, sorted };
})((window.ctxgc = window.ctxgc || {}));
