// Where documents come from: the file itself, if it is a report, or else the server that gave the page.
// Rule: a report asks nobody for anything; the page asks only its own server, with the token of its address.
"use strict";
(function (page) {
  const KEPT = "ctxgc.token";
  const LATEST_RETRY = 15000; // milliseconds
  const element = document.getElementById("documents");
  const inlined = element ? JSON.parse(element.textContent) : null;
  let token = "";

  class Failure extends Error {
    constructor(status, message) {
      super(message);
      this.status = status; // of HTTP; 0 where there was no answer
    }
  }

  function remember(value) {
    token = value;
    try {
      sessionStorage.setItem(KEPT, value);
    } catch {
      // No storage here: the token lasts as long as the page.
    }
  }

  // Takes `#token=...` out of the address, which people share and browsers keep: `#token=T&/session/ID/heap` goes on
  // as `#/session/ID/heap`.
  function takeToken() {
    if (inlined) return;
    try {
      token = sessionStorage.getItem(KEPT) || "";
    } catch {
      token = "";
    }
    const found = /^#token=([^&/]*)&?(.*)$/.exec(location.hash);
    if (!found) return;
    remember(found[1]);
    history.replaceState(null, "", location.pathname + location.search + (found[2] ? "#" + found[2] : ""));
  }

  const headers = (more) => Object.assign({ Authorization: "Bearer " + token }, more);

  async function failure(response) {
    let message = "The server answered " + response.status + ".";
    try {
      message = String((await response.json()).error.message);
    } catch {
      // Not one of the page's own answers: the status has to do.
    }
    return new Failure(response.status, message);
  }

  async function ask(path, options) {
    let response;
    try {
      response = await fetch("api/" + path, Object.assign({ cache: "no-store", redirect: "error" }, options));
    } catch {
      throw new Failure(0, "The server does not answer. Is ctxgc still running?");
    }
    if (!response.ok) throw await failure(response);
    return response;
  }

  // The id of the one session of a report that holds no other; null elsewhere.
  function onlyOne() {
    const sessions = (inlined && inlined.sessions && inlined.sessions.sessions) || [];
    return sessions.length === 1 ? sessions[0].id : null;
  }

  const has = (path) => !inlined || Object.hasOwn(inlined, path);

  // The first document, asked for before the other scripts have run: {path, answer}, or null once it was taken.
  let early = null;

  function begin() {
    if (inlined || !token) return;
    const found = /^#\/?session\/([^/]+)/.exec(location.hash);
    const path = found ? "sessions/" + found[1] : "sessions";
    early = { path, answer: ask(path, { headers: headers() }) };
    early.answer.catch(() => {}); // whoever takes it is told
  }

  function asked(path) {
    const first = early;
    early = null;
    return first && first.path === path ? first.answer : ask(path, { headers: headers() });
  }

  // The document at a path of the API.
  async function load(path) {
    if (!inlined) return (await asked(path)).json();
    if (!has(path)) throw new Failure(404, "This report does not hold that. Open the page of a running ctxgc for it.");
    return inlined[path];
  }

  // Does something to a session that is running.
  async function act(path, body) {
    const options = { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body) };
    return (await ask(path, options)).json();
  }

  // Calls `told` with each event, and with null when some may have been missed; `state` with how things stand.
  async function follow(told, signal) {
    const response = await ask("events", { headers: headers(), signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    told(null);
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value.replace(/\r/g, "")).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const data = part.split("\n").filter((one) => one.startsWith("data:")).map((one) => one.slice(5));
        if (data.length) told(JSON.parse(data.join("\n")));
      }
    }
  }

  // Follows the server's events until the function it returns is called.
  function watch(told, state) {
    const controller = new AbortController();
    let wait = 500;
    async function run() {
      while (!controller.signal.aborted) {
        try {
          await follow((event) => {
            wait = 500;
            state("live");
            told(event);
          }, controller.signal);
        } catch (problem) {
          if (problem.status === 401) return state("locked");
        }
        if (controller.signal.aborted) return undefined;
        state("disconnected");
        await new Promise((resolve) => setTimeout(resolve, wait));
        wait = Math.min(wait * 2, LATEST_RETRY);
      }
      return undefined;
    }
    run();
    return () => controller.abort();
  }

  takeToken();
  begin();
  page.documents = { report: inlined !== null, paths: inlined ? Object.keys(inlined) : [], only: onlyOne(), has, load, act, watch, remember, takeToken };
})((window.ctxgc = window.ctxgc || {}));
