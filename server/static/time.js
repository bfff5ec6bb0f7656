// Shows times in the viewer's time zone, with UTC on hover. Without this script the page shows UTC.
(() => {
  const day = { year: "numeric", month: "short", day: "numeric" };
  const local = new Intl.DateTimeFormat(undefined, { ...day, hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { ...day, hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });

  function rewrite(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-done])")) {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      time.dataset.done = "";
      time.title = `${exact.format(moment)} · ${time.title}`;
      if (time.dataset.style === "absolute") time.textContent = local.format(moment);
    }
  }

  rewrite(document);
  document.addEventListener("htmx:load", (event) => rewrite(event.target));
})();
