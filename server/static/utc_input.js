// Shows the time of each date field, which is in UTC, in the viewer's time zone.
(() => {
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const input of document.querySelectorAll("input[data-utc]")) {
    const shown = document.createElement("output");
    shown.className = "caption";
    shown.htmlFor = input.id;
    input.after(shown);
    const show = () => {
      const moment = new Date(`${input.value}Z`);
      shown.textContent = Number.isNaN(moment.getTime()) ? "" : `${local.format(moment)} in ${zone}`;
    };
    input.addEventListener("input", show);
    show();
  }
})();
