// Adds a drop zone and a progress bar to the submit form, which also works without this script.
(() => {
  const form = document.querySelector("form[data-upload]");
  if (!form) return;
  const input = form.querySelector("input[type=file]");
  const drop = form.querySelector("[data-drop]");
  const chosen = form.querySelector("[data-chosen]");
  const bar = form.querySelector("[data-bar]");
  const status = form.querySelector("[data-said]");
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

  const showChosenFile = () => {
    const file = input.files[0];
    const tooLarge = Boolean(file) && file.size > limit;
    chosen.textContent = file ? `${file.name} · ${size(file.size)}` : "";
    refusal.replaceChildren();
    if (tooLarge) refuse(sentence(`This file has ${size(file.size)}; the limit is ${size(limit)}. Compress it with gzip, or submit fewer predictions.`));
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
    showChosenFile();
  });
  input.addEventListener("change", showChosenFile);

  const reset = (text) => {
    request = null;
    bar.hidden = true;
    status.textContent = text;
    button.textContent = "Submit file";
  };

  // The response is the page that a form without scripts gets: the submission, or this page with the refusal.
  const handleResponse = (response) => {
    if (response.status < 400) {
      location.assign(response.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(response.responseText, "text/html");
    reset("");
    refuse(page.querySelector("#refusal > *") || page.querySelector("main h1") || sentence("The server could not accept the file. Try again. Your quota has not changed."));
  };

  // Loads this page again to check whether a file may be submitted now, before the upload starts.
  const uploadRefusal = async () => {
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
    const reason = await uploadRefusal();
    button.disabled = false;
    if (reason) {
      refuse(reason);
      return;
    }
    request = new XMLHttpRequest();
    request.open("POST", form.action || location.href);
    request.upload.addEventListener("progress", (step) => {
      bar.value = step.loaded / step.total;
      status.textContent = step.loaded < step.total
        ? `Uploading: ${size(step.loaded)} of ${size(step.total)}`
        : "Uploaded. The server is storing the file.";
    });
    request.addEventListener("load", () => handleResponse(request));
    request.addEventListener("error", () => reset("The connection was lost. Your file is still selected. Submit it again."));
    request.addEventListener("abort", () => reset("Upload stopped. Your quota has not changed."));
    request.send(new FormData(form));
    refusal.replaceChildren();
    bar.hidden = false;
    bar.value = 0;
    button.textContent = "Stop";
  });
})();
