// On a narrow screen the current tab is scrolled into view.
for (const current of document.querySelectorAll(".tabs [aria-current]")) {
  const strip = current.closest(".tabs");
  strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}
