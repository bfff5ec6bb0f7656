// Shows times in the viewer's time zone, with UTC on hover, and recent ones relative to now. Without this script the
// page shows UTC.
(() => {
  const day = { year: "numeric", month: "short", day: "numeric" };
  const local = new Intl.DateTimeFormat(undefined, { ...day, hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { ...day, hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });

  // How long ago a time was, as the server writes it; empty if that is more than two months.
  function since(moment) {
    const seconds = Math.max(0, (Date.now() - moment) / 1000);
    if (seconds >= 60 * 86400) return "";
    if (seconds < 5) return "just now";
    const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
    const [name, size] = units.find(([, size]) => seconds >= size);
    const amount = Math.floor(seconds / size);
    return `${amount} ${name}${amount === 1 ? "" : "s"} ago`;
  }

  function rewrite(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-done])")) {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      time.dataset.done = "";
      time.title = `${exact.format(moment)} · ${time.title}`;
      if (time.dataset.style === "absolute") time.textContent = local.format(moment);
      if (time.dataset.style === "since") time.textContent = since(moment) || time.textContent;
    }
  }

  rewrite(document);
  document.addEventListener("htmx:load", (event) => rewrite(event.target));
})();
