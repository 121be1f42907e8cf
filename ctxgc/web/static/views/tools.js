// The tools that a session offers: what their schemas cost and whether anybody calls them.
// Rule: a tool that was never called says so in words; one of ctxgc's own is no leak.
"use strict";
(function (page) {
  const { html, useMemo } = window.htmPreact;
  const { line, whole, plural } = page.text;
  const { Empty } = page.parts;
  const { Grid, range } = page.grid;
  const { address, go } = page.hooks;

  function columnsOf(summary) {
    const { tools } = summary;
    const number = (key, title, width, says) => ({ key, title, width, says, number: true, value: (i) => tools[i][key], show: (i) => whole(tools[i][key]) });
    const calls = (one) => (one.calls ? whole(one.calls) : one.ours ? html`<span class="dim">not needed yet</span>` : html`<b class="never">never called</b>`);
    const last = (one) => (one.last_call ? html`<a tabindex="-1" href=${address(summary.id, "diff", one.last_call)}>${one.last_call}</a>` : "–");
    return [
      { key: "name", title: "Tool", width: 30, grow: true, value: (i) => tools[i].name, show: (i) => html`<span>${line(tools[i].name)}${tools[i].ours && html` <span class="badge">of ctxgc</span>`}</span>` },
      number("tokens", "Schema tokens", 18, "Of its newest schema"),
      number("requests", "Requests", 12, "Requests that carried it"),
      number("token_turns", "Token-turns", 15, "Its tokens times those requests"),
      { key: "calls", title: "Calls", width: 15, number: true, value: (i) => tools[i].calls, show: (i) => calls(tools[i]) },
      { key: "last_call", title: "Last call, turn", width: 18, number: true, value: (i) => tools[i].last_call, show: (i) => last(tools[i]) },
    ];
  }

  function Tools({ summary }) {
    const { tools } = summary;
    const rows = useMemo(() => range(tools.length), [tools.length]);
    const idle = tools.filter((one) => !one.calls && !one.ours);
    const total = (list, key) => list.reduce((sum, one) => sum + one[key], 0);
    if (!tools.length) return html`<${Empty}>This session offers no tools: its requests carry no tool schemas.<//>`;
    return html`<p class="lead" data-tools=${tools.length} data-never=${idle.length}>${plural(tools.length, "tool")}, ${whole(total(tools, "tokens"))} tokens in every request.
        ${idle.length > 0 && html` <b>${whole(idle.length)} never called</b>: ${whole(total(idle, "tokens"))} tokens of it, ${whole(total(idle, "token_turns"))} token-turns so far.`}</p>
      <${Grid} name=${"tools:" + summary.id} tall caption="Tools; Enter opens the diff of the last call" first=${{ key: "token_turns", descending: true }} columns=${columnsOf(summary)} rows=${rows} version=${tools}
        select=${(i) => tools[i].last_call && go(address(summary.id, "diff", tools[i].last_call))} rowAttrs=${(i) => ({ "data-tool": tools[i].name })} />`;
  }

  page.views = Object.assign(page.views || {}, { tools: Tools });
})((window.ctxgc = window.ctxgc || {}));
