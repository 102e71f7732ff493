"use strict";
(() => {
  const page = document.documentElement;
  const status = document.getElementById("status");
  page.classList.add("js"); // without it, all equations stay in sight

  // a formula that has no place to be broken gets smaller type, down to what can still be read
  function fit() {
    for (const each of document.querySelectorAll(".formula, .letters")) {
      each.style.fontSize = "";
      const share = each.clientWidth / each.scrollWidth;
      if (share < 1) each.style.fontSize = Math.max(0.98 * share, 0.55) * parseFloat(getComputedStyle(each).fontSize) + "px";
    }
  }

  function show(id) {
    const section = document.getElementById(id);
    if (!section || !section.classList.contains("equation")) return false;
    const article = section.closest("article");
    for (const each of article.querySelectorAll(".equation")) each.classList.toggle("selected", each === section);
    for (const each of article.querySelectorAll("[data-equation]")) {
      if (each.dataset.equation === id) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
    fit();
    status.textContent = "Shown: " + section.querySelector("h4").textContent;
    return true;
  }

  function remember(id) {
    try {
      history.replaceState(null, "", "#" + id);
    } catch {
      // a page inside another may not change its address
    }
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      // where the page may not reach the clipboard, the text is chosen, and the older way tried
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) return void copy(button);
    const chosen = event.target.closest("[data-equation]");
    if (!chosen || event.ctrlKey || event.metaKey || !getSelection().isCollapsed) return;
    if (show(chosen.dataset.equation)) {
      event.preventDefault();
      remember(chosen.dataset.equation);
    }
  });
  window.addEventListener("hashchange", () => show(location.hash.slice(1)));
  window.addEventListener("resize", fit);
  fit();
  if (location.hash) show(location.hash.slice(1));
})();
