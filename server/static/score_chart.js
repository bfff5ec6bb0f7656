// Moves between the points of the score chart with the arrow keys, and shows the values of a point below the chart.
// Without this script each point is a link with a tooltip.
(() => {
  const chart = document.querySelector(".score-chart");
  if (!chart) return;
  const points = [...chart.querySelectorAll(".plot a")];
  const reading = chart.querySelector(".reading");
  const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -points.length, End: points.length };

  // Only one point is in the tab order.
  const select = (chosen) => points.forEach((point) => point.setAttribute("tabindex", point === chosen ? "0" : "-1"));

  points.forEach((point, index) => {
    const show = () => {
      reading.textContent = point.getAttribute("aria-label");
    };
    point.addEventListener("mouseenter", show);
    point.addEventListener("focus", () => {
      show();
      select(point);
    });
    point.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      points[Math.min(points.length - 1, Math.max(0, index + STEPS[event.key]))].focus();
    });
  });
  select(points[points.length - 1]);
})();
