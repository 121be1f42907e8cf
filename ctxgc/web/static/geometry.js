// Where things go in a chart. Pure functions of numbers.
// Rule: nothing is thinned out: every turn is a point of its path, and one path draws one family.
"use strict";
(function (page) {
  const STEPS_UP_TO = 600; // turns; beyond, a step is less than two pixels wide

  const tenth = (value) => Math.round(value * 10) / 10;

  // A scale from turns (1 and on) to the middle of their place between two x.
  function turnScale(count, left, right) {
    const each = (right - left) / Math.max(1, count);
    return {
      each,
      x: (turn) => tenth(left + (turn - 0.5) * each),
      edge: (turn) => tenth(left + (turn - 1) * each),
      turn: (x) => Math.max(1, Math.min(count, Math.floor((x - left) / each) + 1)),
    };
  }

  const valueScale = (most, top, bottom) => (value) => tenth(bottom - (value / (most || 1)) * (bottom - top));

  // Round values from 0 up to `most`, some four of them.
  function ticks(most) {
    if (!(most > 0)) return [0];
    const rough = most / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough));
    const found = [];
    for (let value = 0; value <= most; value += step) found.push(value);
    return found;
  }

  // The sums of the first 0, 1, ... series at every turn: one edge more than there are series.
  function edges(series, count) {
    const all = [new Float64Array(count)];
    for (const values of series) {
      const below = all[all.length - 1];
      const edge = new Float64Array(count);
      for (let i = 0; i < count; i += 1) edge[i] = below[i] + ((values && values[i]) || 0);
      all.push(edge);
    }
    return all;
  }

  // The points of an edge from the left to the right, as path text. Both neighbours of an edge draw with them.
  function points(edge, turns, y) {
    const out = [];
    const steps = edge.length <= STEPS_UP_TO;
    for (let i = 0; i < edge.length; i += 1) {
      const height = " " + y(edge[i]);
      if (steps) out.push(turns.edge(i + 1) + height, turns.edge(i + 2) + height);
      else out.push(turns.x(i + 1) + height);
    }
    return out;
  }

  const line = (edge, turns, y) => (edge.length ? "M" + points(edge, turns, y).join("L") : "");

  // One closed path for each space between two edges that follow each other.
  function areas(all, turns, y) {
    const forward = all.map((edge) => points(edge, turns, y));
    const paths = forward.map((one) => one.join("L"));
    return forward.slice(0, -1).map((below, k) => (below.length ? "M" + paths[k + 1] + "L" + below.reverse().join("L") + "Z" : ""));
  }

  // What kind of mark a collection gets, and how it is drawn: [shape, half of its height in pixels, what it is].
  const kindOf = (one) => (one.span ? "span" : Object.hasOwn(MARKS, one.generation) ? one.generation : "minor");
  const MARKS = {
    eden: ["circle", 3, "edited before it was sent (eden)"],
    minor: ["triangle", 4, "minor collection"],
    major: ["diamond", 5, "major collection"],
    span: ["square", 4, "span left out"],
    note: ["flag", 5, "milestone or other note"],
  };

  // One path of many marks at (x, y) of `places`; `size` is half a mark's height.
  function marks(places, size, shape) {
    const one = {
      triangle: ([x, y]) => `M${x} ${y - size}L${x + size} ${y + size}L${x - size} ${y + size}Z`,
      diamond: ([x, y]) => `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z`,
      circle: ([x, y]) => `M${x - size} ${y}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0Z`,
      square: ([x, y]) => `M${x - size} ${y - size}H${x + size}V${y + size}H${x - size}Z`,
      flag: ([x, y]) => `M${x} ${y + size}V${y - size}L${x + 1.6 * size} ${y - size / 2}L${x} ${y}Z`,
    }[shape];
    return places.map(one).join("");
  }

  page.geometry = { turnScale, valueScale, ticks, edges, line, areas, marks, kindOf, MARKS };
})((window.ctxgc = window.ctxgc || {}));
