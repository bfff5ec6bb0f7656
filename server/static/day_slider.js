// Makes the slider choose the day of the leaderboard. Without this script it is hidden, and the date field is used.
(() => {
  const slider = document.querySelector("input[data-days]");
  if (!slider) return;
  const days = slider.dataset.days.split(" ");
  const text = slider.parentElement.querySelector("output");
  const format = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  const PAUSE = 500; // Milliseconds without a change before the page is loaded, so that arrow keys can pass several days.
  let waiting = 0;

  const show = () => {
    const day = days[slider.value];
    text.value = day ? format.format(new Date(day)) : "Now";
    slider.setAttribute("aria-valuetext", text.value);
  };

  // Loads the leaderboard as it was at the end of the day. The slider keeps the focus.
  const load = () => {
    const day = days[slider.value];
    sessionStorage.setItem("day-slider", "focus");
    location.assign(slider.dataset.url + (day ? `&at=${day}T23:59:59` : ""));
  };

  slider.addEventListener("input", show);
  slider.addEventListener("change", () => {
    clearTimeout(waiting);
    waiting = setTimeout(load, PAUSE);
  });
  slider.closest("[hidden]").hidden = false;
  if (sessionStorage.getItem("day-slider")) {
    sessionStorage.removeItem("day-slider");
    slider.focus({ preventScroll: true });
  }
})();
