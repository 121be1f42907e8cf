// Text and figures as people read them.
// Rule: whatever a tool, a user or a model wrote is only ever text, and nothing in it can hide: control characters,
// direction overrides and characters without a shape are shown as signs.
"use strict";
(function (page) {
  // Everything that has no shape of its own, or changes the place of others: controls but tab and newline, soft
  // hyphen, direction marks, joiners, fillers, variation selectors but the emoji one, tags, lone surrogates.
  const HIDDEN = new RegExp(
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
      "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff0-\\ufffb" +
      "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}",
    "gu",
  );
  const NONE = "–";

  function sign(character) {
    const code = character.codePointAt(0);
    if (code < 32) return String.fromCharCode(0x2400 + code);
    if (code === 127) return "␡";
    return "⟨U+" + code.toString(16).toUpperCase().padStart(4, "0") + "⟩";
  }

  // Text of several lines.
  function block(text) {
    return String(text).replace(HIDDEN, sign);
  }

  // Text for one line: newlines and tabs are signs too.
  function line(text) {
    return block(text).replace(/\n/g, "␊").replace(/\t/g, "␉");
  }

  // The beginning of a text on one line; what is cut off costs nothing, however long it is.
  function brief(text, most) {
    const whole = String(text);
    if (whole.length <= most) return line(whole);
    return line(whole.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")) + "…";
  }

  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

  // A number that was rounded, with its thousands apart. By hand: the browser's own formatters take 20 ms to be made.
  function grouped(size, negative) {
    const [front, decimals] = String(size).split(".");
    const text = front.replace(/\B(?=(?:\d{3})+$)/g, ",") + (decimals ? "." + decimals : "");
    return negative && size ? "−" + text : text;
  }

  function whole(value) {
    return known(value) ? grouped(Math.round(Math.abs(value)), value < 0) : NONE;
  }

  function share(value) {
    return known(value) ? grouped(Math.round(Math.abs(value) * 1000) / 10, value < 0) + "%" : NONE;
  }

  // Money: two decimals from a dollar on, else four figures that count.
  function dollars(value) {
    if (!known(value)) return NONE;
    const size = Math.abs(value);
    const decimals = size >= 1 || size === 0 ? 2 : Math.min(8, 3 - Math.floor(Math.log10(size)));
    return (value < 0 ? "−$" : "$") + size.toFixed(decimals);
  }

  // Relative prices: one is a token of input at its full price.
  function price(value, usd) {
    return usd ? dollars(value) : whole(value);
  }

  const UNITS = {
    tokens: (value) => whole(value) + " tokens",
    usd: dollars,
    price: (value) => whole(value) + " input tokens’ worth",
    ratio: share,
    turns: (value) => whole(value) + (value === 1 ? " turn" : " turns"),
    count: whole,
  };

  function figure(value, unit) {
    if (!known(value)) return "unknown";
    return Object.hasOwn(UNITS, unit) ? UNITS[unit](value) : whole(value);
  }

  const two = (n) => String(n).padStart(2, "0");

  // A Unix time in seconds, as the reader's own clock says it.
  function clock(seconds) {
    if (!known(seconds) || seconds <= 0) return NONE;
    const at = new Date(seconds * 1000);
    return two(at.getHours()) + ":" + two(at.getMinutes()) + ":" + two(at.getSeconds());
  }

  function moment(seconds) {
    if (!known(seconds) || seconds <= 0) return NONE;
    const at = new Date(seconds * 1000);
    return at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate()) + " " + clock(seconds);
  }

  // Axis labels: 12k, 1.5M.
  function round(value) {
    if (value >= 1e6) return String(Math.round(value / 1e5) / 10) + "M";
    return value >= 1e3 ? String(Math.round(value / 100) / 10) + "k" : String(value);
  }

  function plural(count, one, many) {
    return whole(count) + " " + (count === 1 ? one : many || one + "s");
  }

  const ORIGINS = new Map([["", "–"], ["prefix", "known by its history"], ["demo, untouched", "demo without ctxgc"]]);

  // How a session is told from others: by what its agent sends, or else by its history.
  function origin(name) {
    return ORIGINS.get(name) || "session id from: " + line(name);
  }

  // A member of a decoded document; undefined where it has none of its own, whatever objects inherit.
  function own(object, key) {
    return object && Object.hasOwn(object, key) ? object[key] : undefined;
  }

  page.text = { NONE, block, line, brief, known, whole, share, dollars, price, figure, clock, moment, round, plural, own, origin };
})((window.ctxgc = window.ctxgc || {}));
