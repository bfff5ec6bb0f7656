// Copy buttons. They are hidden without this script, because they would have no effect.
(() => {
  const show = (root) => {
    for (const button of root.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    let result = "Copied";
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      result = "Selected";
    }
    const word = button.firstChild;
    word.nodeValue = result;
    setTimeout(() => { word.nodeValue = "Copy"; }, 2000);
  });

  show(document);
  document.addEventListener("htmx:load", (event) => show(event.target));
})();
