"use strict";
// Follows the peer: when it says that something has changed, the page is fetched again, and its parts that are marked data-live
// are replaced where they differ. Without this script the page has a link to load it again.
(() => {
  const said = document.getElementById("live");
  let source = null, fetching = false, again = false, due = 0;
  let first = true; // the first event says what the page says already
  let change = ""; // the number of the last change that the page is to show; empty: it is not known
  let failures = 0; // of the peer to answer, one after another

  const say = (text) => { if (said.textContent !== text) said.textContent = text; };

  // upTo is a random time, so that the readers of a peer do not all ask it at once.
  const upTo = (milliseconds) => Math.random() * milliseconds;

  // fail says that the peer is silent, if it was before: a connection may end for other reasons.
  function fail() {
    if (++failures > 1) say("The peer does not answer; what you see is from before.");
  }

  // replace puts in new content, and keeps what the reader has done there: focus, scrolling and what is unfolded.
  function replace(old, fresh) {
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    const scrolled = [...old.querySelectorAll(".wide")].map((e) => e.scrollLeft);
    const unfolded = new Set([...old.querySelectorAll("details[open]")].map((e) => e.id));
    old.replaceChildren(...fresh.childNodes);
    old.querySelectorAll(".wide").forEach((e, i) => { e.scrollLeft = scrolled[i] || 0; });
    old.querySelectorAll("details").forEach((e) => { if (unfolded.has(e.id)) e.open = true; });
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  function soon(within, after = 0) {
    due = due || setTimeout(() => { due = 0; refresh(); }, after + upTo(within));
  }

  async function refresh() {
    if (fetching) { again = true; return; }
    fetching = true;
    let retry = 0; // the least time until the next attempt, in milliseconds
    try {
      const answer = await fetch(location.href, { redirect: "error", headers: change ? { "Switchyard-Change": change } : {} });
      failures = 0;
      if (answer.status === 401) { location.reload(); return; }
      if (!answer.ok) { retry = 15000; say("The page could not be brought up to date (" + answer.status + ")."); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const parts = [...document.querySelectorAll("[data-live]")];
      if (!parts.every((old) => page.getElementById(old.id))) { say("The page could not be brought up to date: reload it."); return; }
      for (const old of parts) {
        const fresh = page.getElementById(old.id);
        const selecting = old.contains(document.getSelection().anchorNode) && !document.getSelection().isCollapsed;
        if (!selecting && fresh.innerHTML !== old.innerHTML) replace(old, fresh);
      }
      say("Up to date.");
    } catch {
      retry = 3000;
      fail();
    } finally {
      fetching = false;
      if (retry) soon(retry, retry); // the change must not be missed, also if it is the last one
      else if (again) refresh();
      again = false;
    }
  }

  function follow() {
    if (document.hidden) { source?.close(); source = null; return; }
    if (source) return;
    source = new EventSource("/changes");
    source.addEventListener("changed", (event) => {
      change = event.lastEventId;
      if (!first) soon(Number(event.data));
      first = false;
    });
    source.addEventListener("open", () => { failures = 0; say("Up to date."); });
    source.addEventListener("end", () => { // after a few minutes, or with the session
      source.close();
      source = null;
      setTimeout(follow, upTo(2000));
    });
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) { fail(); return; } // the browser tries again
      source = null;
      change = "";
      refresh(); // loads the page again if the session has ended
      setTimeout(follow, 15000 + upTo(15000));
    });
  }

  document.addEventListener("visibilitychange", follow);
  follow();
})();
