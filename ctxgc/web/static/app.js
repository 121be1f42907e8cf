// The page: where one is, what is live, and the view in the middle.
// Rule: what changes on its own can be paused, keeps the reader's place, and is announced no more than needed.
"use strict";
(function (page) {
  const { html, render, useState, useEffect, useRef, useErrorBoundary } = window.htmPreact;
  const { line, whole, moment, plural, origin } = page.text;
  const { report, watch, remember, takeToken, act } = page.documents;
  const { Waiting, Stale, Dialog } = page.parts;
  const { route, address, useDocument } = page.hooks;
  const TABS = [["heap", "Heap"], ["cells", "Cells"], ["diff", "Diff"], ["gc", "GC log"], ["suspects", "Suspects"], ["tools", "Tools"], ["books", "Books"]];
  const MEANS = {
    cells: "Cells are the parts of the context: prompts, replies, calls and their results. Token-turns: tokens times the requests that carried them.",
    diff: "What the agent sent (−) and what the model got instead (+); or, against another turn, what the model got in the two.",
    gc: "Collections: what was taken out of the context, what that cost and what it saves.",
    suspects: "What is carried again and again to no apparent use.",
    tools: "The tools in every request. Token-turns: a schema’s tokens times the requests that carried it.",
    books: "The session’s ledger: facts that a verifier has seen in a voucher, and claims that nobody has verified.",
  };
  const REFRESH = 1000; // milliseconds between two loads
  const ANNOUNCE = 5000; // milliseconds between two announcements

  function useRoute() {
    const [at, set] = useState(route());
    useEffect(() => {
      const changed = () => {
        takeToken();
        set(route());
      };
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    }, []);
    return at;
  }

  // {tick, state}: `tick` rises when the shown session, or any in the list, has grown; never more than once a second.
  function useLive(id, paused, epoch) {
    const [state, setState] = useState(report ? "report" : "connecting");
    const [tick, setTick] = useState(0);
    const wanted = useRef({});
    wanted.current = { id, paused };
    useEffect(() => {
      if (report) return undefined;
      let [timer, last] = [0, Date.now()]; // what is loaded at first is not loaded twice at once
      const bump = () => {
        timer = 0;
        if (wanted.current.paused) return; // told of before the reader paused
        last = Date.now();
        setTick((n) => n + 1);
      };
      const told = (event) => {
        const { id: shown, paused: still } = wanted.current;
        if (still || timer || (event && shown && event.session !== shown)) return;
        timer = setTimeout(bump, Math.max(0, last + REFRESH - Date.now()));
      };
      const stop = watch(told, setState);
      return () => {
        stop();
        clearTimeout(timer);
      };
    }, [epoch]);
    const was = useRef(paused);
    useEffect(() => {
      if (was.current && !paused) setTick((n) => n + 1); // what was missed meanwhile
      was.current = paused;
    }, [paused]);
    return { tick: epoch * 1e6 + tick, state };
  }

  function Token({ accept }) {
    const field = useRef(null);
    const submit = (event) => {
      event.preventDefault();
      const text = field.current.value.trim();
      const found = /#token=([^&/\s]*)/.exec(text);
      remember(found ? found[1] : text);
      accept();
    };
    return html`<main id="main" class="locked"><h1 tabindex="-1">This page needs its token</h1>
      <p>Open the link that <code>ctxgc proxy</code> or <code>ctxgc page</code> printed when it started, or paste it here.</p>
      <form class="buttons" onSubmit=${submit}><label for="token">Link or token</label>
        <input id="token" ref=${field} type="password" autocomplete="off" spellcheck="false" required /><button type="submit" data-action="token">Open</button></form></main>`;
  }

  const SAID = { live: "live", connecting: "connecting …", disconnected: "disconnected: trying again", report: "report", locked: "locked" };

  function Status({ state, paused, setPaused }) {
    return html`<span class="status" data-live=${state}><span class=${"lamp " + (paused ? "paused" : state)} aria-hidden="true"></span>
      <span role="status">${paused && state === "live" ? "paused" : SAID[state]}</span>
      ${!report && html` <button type="button" data-action="pause" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? "Resume" : "Pause"}</button>`}</span>`;
  }

  function Tabs({ at, summary }) {
    const count = { suspects: summary.suspects.length, gc: summary.collections.length, tools: summary.tools.length };
    return html`<nav class="tabs" aria-label="Views of the session"><ul>${TABS.map(([view, name]) => html`
      <li key=${view}><a href=${address(at.id, view)} aria-current=${at.view === view ? "page" : undefined} data-tab=${view}>${name}${count[view] > 0 && html` <span class="count">${whole(count[view])}</span>`}</a></li>`)}</ul></nav>`;
  }

  function Milestone({ id }) {
    const [open, set] = useState(false);
    return html`<button type="button" data-action="milestone-open" onClick=${() => set(true)}>Milestone …</button>
      ${open && html`<${Dialog} title="A sub-task is done" close=${() => set(false)}><${Done} id=${id} /><//>`}`;
  }

  // The form of a milestone; once it is noted, what the server said takes its place, and Enter closes the dialog.
  function Done({ id }) {
    const [name, setName] = useState("");
    const [state, set] = useState({ busy: false, said: "", failure: "" });
    const status = useRef(null);
    async function submit(event) {
      event.preventDefault();
      if (state.busy) return;
      if (!name.trim()) return set({ busy: false, said: "", failure: "Give the sub-task that is done a name." });
      set({ busy: true, said: "", failure: "" });
      try {
        set({ busy: false, said: line((await act(`sessions/${id}/milestone`, { name: name.trim() })).said || "done"), failure: "" });
      } catch (problem) {
        set({ busy: false, said: "", failure: line(problem.message) });
      }
    }
    useEffect(() => {
      if (state.said && status.current) status.current.closest("dialog").querySelector("[data-close]").focus();
    }, [state.said]);
    return html`${!state.said && html`<form onSubmit=${submit}>
        <p>What it needed may be collected now, before the rent is due.</p>
        <p class="buttons"><label for="milestone-name">Its name</label>
          <input id="milestone-name" value=${name} maxlength="200" autocomplete="off" onInput=${(event) => setName(event.currentTarget.value)} />
          <button type="submit" data-action="milestone" aria-disabled=${state.busy}>Say that it is done</button></p></form>`}
      <p role="status" ref=${status} class=${state.failure ? "failed" : "said"}>${state.failure || (state.said && "✓ " + state.said)}</p>`;
  }

  function About({ summary }) {
    const facts = [
      summary.live ? "in memory" : "stored", summary.models.map(line).join(", ") || "no model yet", plural(summary.turns.count, "request"),
      `${moment(summary.first)} to ${moment(summary.last)}`, origin(summary.origin), summary.exact ? "counted by the model’s tokenizer" : "tokens estimated",
    ];
    return html`<p class="about" data-entries=${summary.entries}>${facts.join(" · ")}</p>`;
  }

  // Says what is new, now and then, to those who cannot see it.
  function Announcer({ summary }) {
    const [said, say] = useState("");
    const last = useRef({ at: 0, count: summary.turns.count, timer: 0, newest: summary });
    last.current.newest = summary;
    useEffect(() => {
      const now = last.current;
      if (summary.turns.count === now.count || now.timer) return;
      now.timer = setTimeout(() => {
        const { turns } = now.newest;
        Object.assign(now, { timer: 0, at: Date.now(), count: turns.count });
        say(`Turn ${turns.count}: forwarded ${whole(turns.sent_total[turns.count - 1])} of ${whole(turns.received_total[turns.count - 1])} tokens`);
      }, Math.max(0, now.at + ANNOUNCE - Date.now()));
    }, [summary.turns.count]);
    return html`<p class="unseen" aria-live="polite" data-announced>${said}</p>`;
  }

  function Session({ at, shown, tick }) {
    const summary = shown.document;
    const [, name] = TABS.find(([view]) => view === at.view) || ["", at.view];
    return html`
      <div class="heading"><h1 tabindex="-1">${line(name)}<span class="of"> of session ${line(at.id).slice(0, 12)}</span></h1>
        ${!report && summary && summary.actions.milestone && html`<${Milestone} id=${summary.id} />`}</div>
      ${summary ? html`<${Opened} ...${{ at, shown, summary, tick }} />` : html`<${Waiting} failure=${shown.failure} what="the session" />`}`;
  }

  // What stands below the heading once there is a document.
  function Opened({ at, shown, summary, tick }) {
    const View = Object.hasOwn(page.views, at.view) && at.view !== "sessions" ? page.views[at.view] : null;
    return html`<${About} summary=${summary} />
      <${Tabs} at=${at} summary=${summary} />
      <${Stale} failure=${shown.failure} /><${Announcer} key=${summary.id} summary=${summary} />
      ${Object.hasOwn(MEANS, at.view) && html`<p class="dim means">${MEANS[at.view]}</p>`}
      <div class="view" data-view=${at.view} data-session=${summary.id}>
        ${View ? html`<${View} key=${at.view + summary.id} summary=${summary} rest=${at.rest} tick=${tick} />` : html`<p class="error" role="alert">There is no such view: choose one above.</p>`}
      </div>`;
  }

  // The heading gets the focus when the view changes, so that a screen reader says where one is.
  function useHeading(at) {
    const first = useRef(true);
    const title = (TABS.find(([view]) => view === at.view) || ["", "Sessions"])[1];
    useEffect(() => {
      document.title = (at.id ? `${title} · ${at.id.slice(0, 12)}` : "Sessions") + " · ctxgc";
      if (!first.current) {
        const heading = document.querySelector("h1");
        if (heading) heading.focus({ preventScroll: true });
        scrollTo(0, 0);
      }
      first.current = false;
    }, [at.id, at.view]);
  }

  function Page() {
    const at = useRoute();
    const [epoch, setEpoch] = useState(0);
    const [paused, setPaused] = useState(false);
    const { tick, state } = useLive(at.id, paused, epoch);
    const shown = useDocument(at.id ? "sessions/" + at.id : "sessions", tick);
    const [broken, mend] = useErrorBoundary();
    useHeading(at);
    useEffect(() => mend(), [at.id, at.view]);
    const locked = shown.failure && shown.failure.status === 401;
    const skip = (event) => {
      event.preventDefault();
      document.querySelector("h1").focus();
    };
    return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
      <header class="bar"><nav aria-label="Site"><b>ctxgc</b> <a class="home" href="#/" aria-current=${at.id ? undefined : "page"}>All sessions</a></nav>
        <${Status} state=${locked ? "locked" : state} paused=${paused} setPaused=${setPaused} /></header>
      ${locked ? html`<${Token} accept=${() => setEpoch(epoch + 1)} />` : html`<main id="main">
        ${broken ? html`<h1 tabindex="-1">This view broke</h1><p class="error" role="alert">${line(String(broken))}. Choose another view, or load the page again.</p>`
          : at.id ? html`<${Session} at=${at} shown=${shown} tick=${tick} />`
          : html`<h1 tabindex="-1">Sessions</h1><div class="view" data-view="sessions"><${page.views.sessions} shown=${shown} /></div>`}
      </main>`}`;
  }

  const root = document.getElementById("app");
  root.textContent = "";
  render(html`<${Page} />`, root);
})((window.ctxgc = window.ctxgc || {}));
