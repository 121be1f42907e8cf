// Small pieces that every view uses.
// Rule: an error is one line that says what to do, and an empty place says how it fills.
"use strict";
(function (page) {
  const { html, useState, useRef, useEffect } = window.htmPreact;
  const { figure, line, known } = page.text;

  function Tile({ tile }) {
    return html`<li class=${"tile " + (tile.tone || "plain")} data-tile=${tile.id} data-unit=${tile.unit}
      data-value=${known(tile.value) ? String(tile.value) : ""}>
      <h2>${line(tile.title)}</h2>
      <details name="tile"><summary aria-label=${"About " + line(tile.title)} title=${line(tile.says)}><span aria-hidden="true">i</span></summary>
        <div class="more"><p class="says">${line(tile.says)}</p><p class="origin">Of ${line(tile.window)}. From: ${line(tile.source)}.</p></div></details>
      <p class="figure">${figure(tile.value, tile.unit)}${tile.tone === "bad" && html` <span class="flag">look here</span>`}</p>
      <p class="origin">${line(tile.window)}</p>
    </li>`;
  }

  const Empty = ({ children }) => html`<p class="empty" data-empty>${children}</p>`;

  // What a view shows while its document is not there.
  function Waiting({ failure, what }) {
    if (failure) return html`<p class="error" role="alert" data-error=${failure.status}>${line(failure.message)}</p>`;
    return html`<p class="waiting" aria-busy="true" data-waiting>Loading ${what} …</p>`;
  }

  // A failure above a document that is still shown.
  const Stale = ({ failure }) => failure && html`<p class="error" role="status">Not the newest: ${line(failure.message)}</p>`;

  // A small table. Columns: {key, title, show(row), number, head}; rows are of any kind.
  function Table({ caption, columns, rows, rowAttrs, hideCaption }) {
    return html`<div class="scroller" role="region" tabindex="0" aria-label=${caption}>
      <table class="plain">
        <caption class=${hideCaption ? "unseen" : ""}>${caption}</caption>
        <thead><tr>${columns.map((one) => html`<th scope="col" class=${one.number ? "number" : ""} key=${one.key}>${one.title}</th>`)}</tr></thead>
        <tbody>${rows.map((row, i) => html`<tr key=${i} ...${rowAttrs ? rowAttrs(row, i) : {}}>
          ${columns.map((one, c) => c === 0
            ? html`<th scope="row" class=${one.number ? "number" : ""} key=${one.key}>${one.show(row, i)}</th>`
            : html`<td class=${one.number ? "number" : ""} data-column=${one.key} key=${one.key}>${one.show(row, i)}</td>`)}
        </tr>`)}</tbody>
      </table>
    </div>`;
  }

  // A bar for a share between 0 and 1. The number stands beside it, so it is only for the eye.
  function Bar({ value }) {
    const part = Math.max(0, Math.min(1, Number(value) || 0));
    return html`<svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="rail" width="100" height="8" /><rect class="fill" width=${(part * 100).toFixed(2)} height="8" />
    </svg>`;
  }

  // A line to copy. It is selected at once: where the clipboard is not allowed, or is asked for and nobody answers, the
  // reader presses the keys.
  function Copyable({ text, label }) {
    const field = useRef(null);
    const [said, say] = useState("");
    async function copy() {
      field.current.focus();
      field.current.select();
      say("selected: press Ctrl-C or ⌘C to copy");
      try {
        await navigator.clipboard.writeText(text);
        say("✓ copied");
      } catch {
        // It is selected, and the line beside it says what to press.
      }
    }
    return html`<span class="copyable">
      <textarea ref=${field} readonly rows=${Math.min(8, text.split("\n").length)} aria-label=${label} spellcheck="false" value=${text}></textarea>
      <button type="button" data-action="copy" onClick=${copy}>Copy</button> <span role="status" class="said">${said}</span>
    </span>`;
  }

  // A modal dialog; the browser keeps the focus in it and gives it back.
  function Dialog({ title, close, children }) {
    const element = useRef(null);
    useEffect(() => {
      const opener = document.activeElement;
      element.current.showModal();
      return () => opener && opener.isConnected && opener.focus();
    }, []);
    return html`<dialog ref=${element} aria-labelledby="dialog-title" onClose=${close}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
      <p class="buttons"><button type="button" data-close onClick=${() => element.current.close()}>Close</button></p>
    </dialog>`;
  }

  // A button that does something at the server, and says what came of it.
  function Action({ label, run, name }) {
    const [state, set] = useState({ busy: false, said: "", bad: false });
    async function press() {
      if (state.busy) return;
      set({ busy: true, said: "", bad: false });
      try {
        set({ busy: false, said: line((await run()) || "done"), bad: false });
      } catch (problem) {
        set({ busy: false, said: line(problem.message), bad: true });
      }
    }
    return html`<span class="action"><button type="button" data-action=${name} aria-disabled=${state.busy} onClick=${press}>${label}</button>
      <span role="status" class=${state.bad ? "error" : "said"}>${state.said}</span></span>`;
  }

  page.parts = { Tile, Empty, Waiting, Stale, Table, Bar, Copyable, Dialog, Action };
})((window.ctxgc = window.ctxgc || {}));
