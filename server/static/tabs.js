// Scrolls the current tab into view on narrow screens.
for (const current of document.querySelectorAll(".tabs [aria-current]")) {
  const strip = current.closest(".tabs");
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}
