// What screen readers are told. Seldom: states, results and answers to what was pressed.

let timer = 0;

/** Say a sentence once. */
export function announce(text) {
  const region = document.getElementById("announcements");
  clearTimeout(timer);
  region.textContent = "";
  timer = setTimeout(() => { region.textContent = text; }, 80);
}
