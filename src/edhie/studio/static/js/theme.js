// Light and dark: as the system says, or as the switch says.

const KEY = "edhie-theme";
const NAMES = { system: "Automatic", light: "Light", dark: "Dark" };
const SIGNS = { system: "◐", light: "☀", dark: "☾" };
const NEXT = { system: "light", light: "dark", dark: "system" };

function stored() {
  try {
    const choice = localStorage.getItem(KEY);
    return choice in NAMES ? choice : "system";
  } catch {
    return "system";
  }
}

/** Set the colours and let the button switch them. */
export function startTheme(button) {
  let choice = stored();
  const show = () => {
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    button.textContent = SIGNS[choice];
    button.setAttribute("aria-label", `Appearance: ${NAMES[choice]}. Press to change.`);
    button.title = `Appearance: ${NAMES[choice]}`;
  };
  button.addEventListener("click", () => {
    choice = NEXT[choice];
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // the choice then holds for this page only
    }
    show();
  });
  show();
}
