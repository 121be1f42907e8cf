// The list of sessions.
// Rule: a figure that nobody has computed is not shown as nought.
"use strict";
(function (page) {
  const { html, useMemo } = window.htmPreact;
  const { line, whole, share, price, moment, known, plural, origin } = page.text;
  const { Waiting, Stale, Empty } = page.parts;
  const { Grid, range } = page.grid;
  const { address, go } = page.hooks;

  const windowUse = (one) => (one.window > 0 && known(one.sent) ? one.sent / one.window : null);

  function columns(list) {
    const column = (key, title, width, show, value, more) => Object.assign({ key, title, width, show: (i) => show(list[i]), value: (i) => value(list[i]) }, more);
    const link = (one) => html`<a href=${address(one.id, "heap")} tabindex="-1">${line(one.id).slice(0, 12)}</a>`;
    return [
      column("id", "Session", 14, link, (one) => one.id),
      column("net", "Net saving", 13, (one) => price(one.net, one.usd), (one) => one.net, { number: true, says: "After what rewriting the cache and recalling cost; in USD, or in tokens at the full input price" }),
      column("suspects", "Suspects", 11, (one) => whole(one.suspects), (one) => one.suspects, { number: true, says: "What wastes the window: leak suspects that its page explains" }),
      column("requests", "Requests", 11, (one) => whole(one.requests), (one) => one.requests, { number: true }),
      column("received", "Received", 11, (one) => whole(one.received), (one) => one.received, { number: true, says: "Tokens of the newest request as the agent sent it" }),
      column("sent", "Forwarded", 12, (one) => whole(one.sent), (one) => one.sent, { number: true, says: "Tokens of the newest request as the model got it" }),
      column("window", "Of window", 12, (one) => share(windowUse(one)), windowUse, { number: true, says: "Forwarded tokens as a share of the model’s window" }),
      column("origin", "Known from", 20, (one) => html`<span title=${origin(one.origin)}>${origin(one.origin)}</span>`, (one) => origin(one.origin), { grow: true, says: "How its requests are told from those of other sessions" }),
      column("model", "Model", 13, (one) => line(one.model || "–"), (one) => one.model),
      column("live", "State", 11, (one) => (one.live ? html`<span class="badge good">in memory</span>` : "stored"), (one) => (one.live ? 0 : 1), { says: "In memory: its agent goes on, and it can be acted on. Stored: it can be looked at" }),
      column("last", "Last request", 21, (one) => moment(one.last), (one) => one.last),
    ];
  }

  const nothing = () => html`<${Empty}>No session yet: point an agent at this proxy (its base URL is <code>${location.protocol === "file:" ? "http://127.0.0.1:8787" : location.origin}/v1</code>),
    or run <code>ctxgc demo --page</code> to see one with a leak.<//>`;

  function Sessions({ shown }) {
    const list = shown.document ? shown.document.sessions : [];
    const rows = useMemo(() => range(list.length), [list]);
    if (!shown.document) return html`<${Waiting} failure=${shown.failure} what="the sessions" />`;
    return html`<${Stale} failure=${shown.failure} />
      ${list.length === 0 ? nothing() : html`
        <p class="lead" data-sessions=${list.length}>${plural(list.length, "session")}, the newest first. Enter or a click opens one. Received: tokens as the agent sent them; forwarded: as the model got them.</p>
        <${Grid} name="sessions" tall caption="Sessions" columns=${columns(list)} rows=${rows} version=${list}
          select=${(i) => go(address(list[i].id, "heap"))} rowAttrs=${(i) => ({ "data-session": list[i].id })} />`}`;
  }

  page.views = Object.assign(page.views || {}, { sessions: Sessions });
})((window.ctxgc = window.ctxgc || {}));
