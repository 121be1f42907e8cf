// The drawing of the heap: what each turn held, as the agent sent it and as the model got it.
// Rule: both halves have the same turns and, unless the reader says otherwise, the same scale; a keyboard moves the
// cursor and a screen reader hears what it stands on.
"use strict";
(function (page) {
  const { html, useMemo, useRef } = window.htmPreact;
  const { line, whole, clock, round, own, known } = page.text;
  const { turnScale, valueScale, ticks, edges, areas, marks, kindOf, MARKS } = page.geometry;
  const { hue, texture, Textures } = page.palette;
  const path = page.geometry.line;
  const HALF = 168; // height of each half in pixels
  const LANE = 34; // between them: collections and notes
  const LEFT = 46;
  const LABELS = 128; // at the right, where there is room

  const most = (values) => values.reduce((a, b) => Math.max(a, b || 0), 0);

  // What a context should not outgrow, in tokens.
  function limitsOf(summary) {
    const all = [["window", summary.window], ["high water", summary.high], ["low water", summary.low], ["quality limit", summary.quality]];
    return all.filter(([, value]) => value > 0);
  }

  function highest(summary, totals) {
    const data = most(totals);
    const near = [summary.window, summary.high, summary.quality].filter((value) => value > 0 && value <= data * 1.6);
    return Math.max(data, most(near), 1);
  }

  // What is drawn of a document at a width: computed once, whatever the cursor does.
  function plan(summary, width, apart) {
    const { turns, families } = summary;
    const narrow = width < 640;
    const right = width - (narrow ? 8 : LABELS);
    const scale = turnScale(turns.count, LEFT, right);
    const both = highest(summary, turns.received_total.concat(turns.sent_total));
    const tops = [10, 10 + HALF + LANE];
    const half = (values, totals, top) => {
      const limit = apart ? highest(summary, totals) : both;
      const y = valueScale(limit, top + 16, top + HALF);
      const series = families.map((family) => own(values, family));
      const edge = edges(series, turns.count);
      const total = path(Float64Array.from(turns.sent_total), scale, y);
      return { y, limit, edge, total, areas: areas(edge, scale, y) };
    };
    const halves = [half(turns.received, turns.received_total, tops[0]), half(turns.sent, turns.sent_total, tops[1])];
    const lane = tops[0] + HALF + LANE / 2;
    const drawMarks = (kind, list, up) => [list.length, marks(list.map((one) => [scale.x(one.turn), lane + up]), MARKS[kind][1], MARKS[kind][0])];
    const made = (kind) => drawMarks(kind, summary.collections.filter((one) => kindOf(one) === kind), -6);
    return {
      scale, halves, tops, right, narrow, bottom: tops[1] + HALF, lane,
      marks: { eden: made("eden"), minor: made("minor"), major: made("major"), span: made("span"), note: drawMarks("note", summary.notes, 8) },
    };
  }

  // Names beside the bands of the newest turn, where a band is high enough to hold one.
  function labels(summary, half, right) {
    const last = summary.turns.count - 1;
    return summary.families.map((family, k) => {
      const [low, high] = [half.y(half.edge[k][last]), half.y(half.edge[k + 1][last])];
      return low - high < 11 ? null : html`<text key=${family} x=${right + 6} y=${(low + high) / 2 + 4} class="label">${line(family)}</text>`;
    });
  }

  function Half({ summary, plan: drawn, which, numbers, title }) {
    const half = drawn.halves[which];
    const { right } = drawn;
    return html`<g data-half=${which ? "sent" : "received"}>
      ${ticks(half.limit).map((value) => html`<g key=${value}>
        <path class="gridline" d=${`M${LEFT} ${half.y(value)}H${right}`} />
        <text class="tick" x=${LEFT - 6} y=${half.y(value) + 4}>${round(value)}</text></g>`)}
      ${half.areas.map((d, k) => {
        const number = numbers.get(summary.families[k]);
        const lines = texture(number);
        return html`<g key=${summary.families[k]}><path class=${"band " + hue(number)} d=${d} data-family=${line(summary.families[k])} />
          ${lines > 0 && html`<path d=${d} fill=${`url(#heap-texture-${lines})`} />`}</g>`;
      })}
      <path class="total halo" d=${half.total} /><path class="total" d=${half.total} data-line="forwarded" />
      ${limitsOf(summary).filter(([, value]) => value <= half.limit).map(([name, value], i) => html`<g key=${name}>
        <path class=${"limit limit-" + i} d=${`M${LEFT} ${half.y(value)}H${right}`} data-limit=${name} />
        <text class="label boxed" x=${LEFT + 6 + i * 8} y=${half.y(value) - 3}>${name} ${round(value)}</text></g>`)}
      ${!drawn.narrow && labels(summary, half, right)}
      <text class="title boxed" x=${LEFT + 4} y=${drawn.tops[which] + 8}>${title}</text>
    </g>`;
  }

  function Drawing({ summary, plan: drawn, numbers, width }) {
    const { lane, scale, bottom, right } = drawn;
    const { count } = summary.turns;
    const every = Math.max(1, ticks(count)[1] || 1);
    const turns = Array.from({ length: Math.floor(count / every) }, (_, i) => (i + 1) * every);
    return html`<g>
      <${Textures} name="heap" />
      <${Half} summary=${summary} plan=${drawn} which=${0} numbers=${numbers} title=${"as the agent sent it" + (drawn.narrow ? "" : " (the line: what was forwarded)")} />
      <${Half} summary=${summary} plan=${drawn} which=${1} numbers=${numbers} title="as the model got it" />
      <path class="gridline" d=${`M${LEFT} ${lane}H${right}`} />
      ${Object.entries(drawn.marks).map(([kind, [number, d]]) => html`<path key=${kind} class=${"mark " + kind} d=${d} data-marks=${kind} data-count=${number} />`)}
      ${turns.map((turn) => html`<text key=${turn} class="tick turn" x=${scale.x(turn)} y=${bottom + 16}>${whole(turn)}</text>`)}
      ${!drawn.narrow && html`<text class="tick turn" x=${width - 4} y=${bottom + 16} text-anchor="end">turn</text>`}
    </g>`;
  }

  // What a turn's figures are, in words.
  function saying(summary, turn) {
    const { turns } = summary;
    const i = turn - 1;
    const here = summary.collections.filter((one) => one.turn === turn);
    const notes = summary.notes.filter((one) => one.turn === turn);
    const outcome = turns.outcome[i] && turns.outcome[i] !== "ok" ? ", " + turns.outcome[i] : "";
    const billed = known(turns.reported[i]) ? `, billed as ${whole(turns.reported[i])}` : "";
    return `turn ${turn} of ${turns.count}, ${clock(turns.at[i])}: received ${whole(turns.received_total[i])}, forwarded ${whole(turns.sent_total[i])} tokens` +
      billed + outcome + here.map((one) => `; ${MARKS[kindOf(one)][2]}, ${whole(one.context_before)} to ${whole(one.context_after)}`).join("") +
      notes.map((one) => `; ${one.kind}: ${line(one.text)}`).join("");
  }

  function Chart({ summary, numbers, width, turn, setTurn, open, apart }) {
    const { turns } = summary;
    const drawn = useMemo(() => plan(summary, width, apart), [summary, width, apart]);
    const drawing = useMemo(() => html`<${Drawing} summary=${summary} plan=${drawn} numbers=${numbers} width=${width} />`, [drawn, numbers]);
    const touched = useRef(0);
    const { scale, bottom } = drawn;
    function press(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const leap = Math.max(2, Math.round(turns.count / 20));
      const steps = {
        ArrowLeft: turn - 1, ArrowDown: turn - 1, ArrowRight: turn + 1, ArrowUp: turn + 1,
        PageDown: turn - leap, PageUp: turn + leap, Home: 1, End: turns.count,
      };
      if (Object.hasOwn(steps, event.key)) setTurn(Math.max(1, Math.min(turns.count, steps[event.key])));
      else if (event.key === "Enter") open(turn);
      else return;
      event.preventDefault();
    }
    const under = (event) => scale.turn(event.clientX - event.currentTarget.getBoundingClientRect().left);
    function click(event) {
      const at = under(event);
      if (event.pointerType === "touch" && touched.current !== at) setTurn(at);
      else open(at);
      touched.current = at;
    }
    const x = scale.x(turn);
    return html`<div class="chart" role="slider" tabindex="0" aria-label="Turn; Enter opens its diff" aria-orientation="horizontal" aria-valuemin="1"
      aria-valuemax=${turns.count} aria-valuenow=${turn} aria-valuetext=${saying(summary, turn)} data-chart="heap" data-count=${turns.count}
      onKeyDown=${press} onClick=${click} onPointerMove=${(event) => event.pointerType === "mouse" && setTurn(under(event))}>
      <svg width=${width} height=${bottom + 22} viewBox=${`0 0 ${width} ${bottom + 22}`} aria-hidden="true" focusable="false">
        ${drawing}
        <path class="cursor" d=${`M${x} ${drawn.tops[0]}V${bottom}`} />
      </svg>
    </div>`;
  }

  page.heap = { Chart, saying, limitsOf };
})((window.ctxgc = window.ctxgc || {}));
