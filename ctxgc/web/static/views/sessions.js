// The list of sessions.
// Rule: a figure that nobody has computed is not shown as nought.
"use strict";
(function (page) {
  const { html, useMemo } = window.htmPreact;
  const { line, whole, share, price, moment, known, plural } = page.text;
  const { Waiting, Stale, Empty } = page.parts;
  const { Grid, range } = page.grid;
  const { address, go } = page.hooks;

  const windowUse = (one) => (one.window > 0 && known(one.sent) ? one.sent / one.window : null);

  function columns(list) {
    const column = (key, title, width, show, value, more) => Object.assign({ key, title, width, show: (i) => show(list[i]), value: (i) => value(list[i]) }, more);
    const link = (one) => html`<a href=${address(one.id, "heap")} tabindex="-1">${line(one.id).slice(0, 12)}</a>`;
    return [
      column("id", "Session", 16, link, (one) => one.id),
      column("live", "State", 9, (one) => (one.live ? html`<span class="badge good">live</span>` : "at rest"), (one) => (one.live ? 0 : 1)),
      column("model", "Model", 22, (one) => line(one.model || "–"), (one) => one.model),
      column("requests", "Requests", 10, (one) => whole(one.requests), (one) => one.requests, { number: true }),
      column("received", "Received", 12, (one) => whole(one.received), (one) => one.received, { number: true, says: "Tokens of the newest request as the agent sent it" }),
      column("sent", "Forwarded", 12, (one) => whole(one.sent), (one) => one.sent, { number: true, says: "Tokens of the newest request as the model got it" }),
      column("window", "Of window", 11, (one) => share(windowUse(one)), windowUse, { number: true }),
      column("net", "Net saved", 14, (one) => price(one.net, one.usd), (one) => one.net, { number: true, says: "After what rewriting the cache and recalling cost; in USD, or in tokens at the full input price" }),
      column("suspects", "Suspects", 10, (one) => whole(one.suspects), (one) => one.suspects, { number: true }),
      column("last", "Last request", 21, (one) => moment(one.last), (one) => one.last),
      column("origin", "Known by", 24, (one) => line(one.origin), (one) => one.origin, { grow: true }),
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
        <p class="lead" data-sessions=${list.length}>${plural(list.length, "session")}, the newest first. Enter or a click opens one.</p>
        <${Grid} name="sessions" tall caption="Sessions" columns=${columns(list)} rows=${rows} version=${list}
          select=${(i) => go(address(list[i].id, "heap"))} rowAttrs=${(i) => ({ "data-session": list[i].id })} />`}`;
  }

  page.views = Object.assign(page.views || {}, { sessions: Sessions });
})((window.ctxgc = window.ctxgc || {}));
