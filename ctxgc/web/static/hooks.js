// What components share: documents that are loaded and loaded again, what outlives a tab, the address.
// Rule: an older answer never takes the place of a newer one, and what is on the screen stays while more is loaded.
"use strict";
(function (page) {
  const { useState, useEffect, useRef, useLayoutEffect } = window.htmPreact;
  const { load, only } = page.documents;
  const kept = new Map();

  // Whether a session's document says what the one before said: nothing is drawn again then.
  function same(before, now) {
    const key = (one) => (one && one.entries !== undefined ? JSON.stringify([one.schema, one.id, one.entries, one.live, one.actions]) : null);
    return key(now) !== null && key(before) === key(now);
  }

  // {document, failure} of a path. Loaded again when `tick` changes, one request at a time.
  function useDocument(path, tick) {
    const [shown, show] = useState({ path: null, document: null, failure: null });
    const job = useRef({ path: null, busy: false, again: false });
    function run(wanted) {
      job.current.busy = true;
      job.current.again = false;
      const done = (change) => {
        if (job.current.path !== wanted) return;
        show((old) => {
          const before = old.path === wanted ? old.document : null;
          if (change.document && same(before, change.document)) change.document = before;
          return Object.assign({ path: wanted, document: before, failure: null }, change);
        });
        job.current.busy = false;
        if (job.current.again) run(wanted);
      };
      load(wanted).then((document) => done({ document }), (failure) => done({ failure }));
    }
    useEffect(() => {
      if (job.current.path !== path) {
        job.current = { path, busy: false, again: false };
        if (path) run(path);
      } else if (path && job.current.busy) {
        job.current.again = true;
      } else if (path) {
        run(path);
      }
    }, [path, tick]);
    useEffect(() => () => { job.current.path = null; }, []);
    return shown.path === path ? shown : { path, document: null, failure: null };
  }

  // State that is there again when a tab is opened again.
  function useKept(key, initial) {
    const [, redraw] = useState(0);
    const value = kept.has(key) ? kept.get(key) : initial;
    const set = (next) => {
      kept.set(key, next);
      redraw((n) => n + 1);
    };
    return [value, set];
  }

  // The width of an element in pixels, as it changes.
  function useWidth(fallback) {
    const element = useRef(null);
    const [width, set] = useState(fallback);
    useLayoutEffect(() => {
      const measure = () => element.current && set(Math.max(240, Math.floor(element.current.clientWidth)));
      measure();
      const observer = new ResizeObserver(measure);
      observer.observe(element.current);
      return () => observer.disconnect();
    }, []);
    return [element, width];
  }

  // The parts of `#/session/ID/diff/12/10`.
  function parts() {
    return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  }

  function route() {
    if (only && location.hash.length < 2) return { id: only, view: "heap", rest: [] }; // a report of one session opens on it
    const [head, id, view, ...rest] = parts();
    return head === "session" && id ? { id, view: view || "heap", rest } : { id: null, view: "sessions", rest: [] };
  }

  const address = (id, view, ...rest) => "#/" + ["session", id, view, ...rest].map(encodeURIComponent).join("/");

  function go(target) {
    location.hash = target;
  }

  page.hooks = { useDocument, useKept, useWidth, keep: (key, value) => kept.set(key, value), route, address, go };
})((window.ctxgc = window.ctxgc || {}));
