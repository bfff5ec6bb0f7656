// Copy buttons: hidden without this file, because they could do nothing.
(() => {
  const show = (root) => {
    for (const button of root.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    let answer = "Copied";
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      answer = "Selected";
    }
    const word = button.firstChild;
    word.nodeValue = answer;
    setTimeout(() => { word.nodeValue = "Copy"; }, 2000);
  });

  show(document);
  document.addEventListener("htmx:load", (event) => show(event.target));
})();
