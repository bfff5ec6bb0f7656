// Shows the progress of uploads in forms with `data-progress`, and the response on the same page. The forms also work
// without this script.
(() => {
  let request = null;

  const size = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

  const show = (text, address) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    if (fresh) document.getElementById("main").replaceWith(fresh);
    if (address) history.replaceState(null, "", address);
    document.getElementById("main").focus();
    window.scrollTo(0, 0);
  };

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-progress]");
    if (!form) return;
    event.preventDefault();
    const bar = form.querySelector("[data-bar]");
    const status = form.querySelector("[data-said]");
    const button = form.querySelector("button[type=submit]");
    const label = button.dataset.label || button.textContent;
    const reset = (text) => {
      request = null;
      bar.hidden = true;
      status.textContent = text;
      button.textContent = label;
    };
    if (request) {
      request.abort();
      return;
    }
    const file = form.querySelector("input[type=file]").files[0];
    if (file && file.size > Number(form.dataset.progress)) {
      status.textContent = `This file is ${size(file.size)} in size; the limit is ${size(Number(form.dataset.progress))}.`;
      return;
    }
    request = new XMLHttpRequest();
    request.open("POST", form.action || location.href);
    request.upload.addEventListener("progress", (step) => {
      bar.value = step.loaded / step.total;
      status.textContent = step.loaded < step.total
        ? `Uploading: ${size(step.loaded)} of ${size(step.total)}`
        : "Uploaded. The server is checking the file. This can take a few minutes.";
    });
    request.addEventListener("load", () => {
      const done = request;
      reset("");
      show(done.responseText, done.responseURL !== form.action ? done.responseURL : "");
    });
    request.addEventListener("error", () => reset("The connection was lost. Your file is still selected. Upload it again."));
    request.addEventListener("abort", () => reset("Upload stopped. Nothing has changed."));
    request.send(new FormData(form));
    button.dataset.label = label;
    button.textContent = "Stop";
    bar.value = 0;
    bar.hidden = false;
  });
})();
