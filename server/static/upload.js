// The submit form with a drop zone and an upload bar. Without this file the form is an ordinary one.
(() => {
  const form = document.querySelector("form[data-upload]");
  if (!form) return;
  const input = form.querySelector("input[type=file]");
  const drop = form.querySelector("[data-drop]");
  const chosen = form.querySelector("[data-chosen]");
  const bar = form.querySelector("[data-bar]");
  const said = form.querySelector("[data-said]");
  const refusal = document.getElementById("refusal");
  const button = form.querySelector("button[type=submit]");
  const limit = Number(form.dataset.upload);
  let request = null;

  const size = (bytes) => {
    const power = Math.min(3, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
    return `${(bytes / 1024 ** power).toFixed(power ? 1 : 0)} ${["B", "KiB", "MiB", "GiB"][power]}`;
  };

  const refuse = (node) => {
    refusal.replaceChildren(node);
    refusal.scrollIntoView({ block: "nearest" });
  };

  const sentence = (text) => {
    const box = document.createElement("p");
    box.className = "notice notice-bad";
    box.textContent = text;
    return box;
  };

  const settle = () => {
    const file = input.files[0];
    const tooLarge = Boolean(file) && file.size > limit;
    chosen.textContent = file ? `${file.name} · ${size(file.size)}` : "";
    refusal.replaceChildren();
    if (tooLarge) refuse(sentence(`This file has ${size(file.size)}; the limit is ${size(limit)}. Compress it with gzip or submit fewer predictions.`));
    button.disabled = tooLarge;
  };

  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) {
    drop.addEventListener(name, () => drop.classList.remove("over"));
  }
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    settle();
  });
  input.addEventListener("change", settle);

  const idle = (text) => {
    request = null;
    bar.hidden = true;
    said.textContent = text;
    button.textContent = "Submit file";
  };

  // The answer is the page an ordinary form would have got: the submission's, or this one with what was refused.
  const answered = (done) => {
    if (done.status < 400) {
      location.assign(done.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(done.responseText, "text/html");
    idle("");
    refuse(page.querySelector("#refusal > *") || page.querySelector("main h1") || sentence("The server could not accept the file. Try again. Your quota has not changed."));
  };

  // Why no file is taken now, asked before the first byte of one is sent: what this page says when it is loaded anew.
  const reasonAgainst = async () => {
    try {
      const page = await (await fetch(location.href)).text();
      return new DOMParser().parseFromString(page, "text/html").getElementById("not-now");
    } catch {
      return null;
    }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (request) {
      request.abort();
      return;
    }
    button.disabled = true;
    const reason = await reasonAgainst();
    button.disabled = false;
    if (reason) {
      refuse(reason);
      return;
    }
    request = new XMLHttpRequest();
    request.open("POST", form.action || location.href);
    request.upload.addEventListener("progress", (step) => {
      bar.value = step.loaded / step.total;
      said.textContent = step.loaded < step.total
        ? `Uploading: ${size(step.loaded)} of ${size(step.total)}`
        : "Uploaded. The server is storing the file.";
    });
    request.addEventListener("load", () => answered(request));
    request.addEventListener("error", () => idle("The connection was lost. Your file is still selected: submit it again."));
    request.addEventListener("abort", () => idle("Upload stopped. Your quota has not changed."));
    request.send(new FormData(form));
    refusal.replaceChildren();
    bar.hidden = false;
    bar.value = 0;
    button.textContent = "Stop";
  });
})();
