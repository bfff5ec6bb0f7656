// Adds to the submit form, which also works without this script: a drop zone, a check of the first part of the file,
// a progress bar, and the result on the same page.
(() => {
  const form = document.querySelector("form[data-upload]");
  if (!form) return;
  const input = form.querySelector("input[type=file]");
  const drop = form.querySelector("[data-drop]");
  const chosen = form.querySelector("[data-chosen]");
  const look = document.getElementById("first-part");
  const bar = form.querySelector("[data-bar]");
  const status = form.querySelector("[data-said]");
  const refusal = document.getElementById("refusal");
  const result = document.getElementById("result");
  const button = form.querySelector("button[type=submit]");
  const format = JSON.parse(form.dataset.layout);
  const limit = Number(form.dataset.upload);
  let label = button.textContent;
  let request = null;

  const size = (bytes) => {
    const power = Math.min(3, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
    return `${(bytes / 1024 ** power).toFixed(power ? 1 : 0)} ${["B", "KiB", "MiB", "GiB"][power]}`;
  };

  const element = (name, className, text) => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  };

  const refuse = (node) => {
    refusal.replaceChildren(node);
    refusal.scrollIntoView({ block: "nearest" });
  };

  const sentence = (text) => element("p", "notice notice-error", text);

  const showFirstPart = ({ lines, problems }) => {
    if (!problems.length) {
      const text = lines ? `No problems in the first ${lines.toLocaleString("en-GB")} lines. The server checks the whole file.` : "";
      look.replaceChildren(element("p", "soft small", text));
      return;
    }
    const box = element("div", "notice notice-warning", "");
    const list = document.createElement("ul");
    for (const problem of problems) list.append(element("li", "", problem));
    box.append(element("p", "", "The server would probably reject this file:"), list);
    look.replaceChildren(box);
  };

  const showChosenFile = async () => {
    const file = input.files[0];
    const tooLarge = Boolean(file) && file.size > limit;
    chosen.textContent = file ? `${file.name} · ${size(file.size)}` : "";
    refusal.replaceChildren();
    look.replaceChildren();
    if (tooLarge) refuse(sentence(`This file is ${size(file.size)} in size; the limit is ${size(limit)}. Compress it with gzip, or submit fewer predictions.`));
    button.disabled = tooLarge;
    if (!file || tooLarge) return;
    const found = await window.podiumFirstPart(file, format);
    if (input.files[0] === file) showFirstPart(found);
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
  if (input.files.length) showChosenFile(); // The browser restored the file, or it was chosen before this script ran.

  const reset = (text) => {
    request = null;
    bar.hidden = true;
    status.textContent = text;
    button.textContent = label;
  };

  const page = async (address) => new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");

  // Takes quota, tabs and form texts from a new copy of this page. Some of them change with the first submission.
  const refresh = async () => {
    const fresh = await page(location.href);
    for (const selector of [".tabs", "#beside", "#first-file"]) {
      const now = document.querySelector(selector);
      const then = fresh.querySelector(selector);
      if (now && then) now.replaceWith(then);
      else now?.remove();
    }
    label = fresh.querySelector("form[data-upload] button[type=submit]")?.textContent || label;
    button.textContent = label;
  };

  const showResult = async (address) => {
    const panel = await page(`${address}panel?brief=1`);
    result.replaceChildren(...panel.body.children);
    window.htmx.process(result);
    result.hidden = false;
    result.scrollIntoView({ block: "nearest" });
    await refresh();
  };

  // The quota changes again when the quota of a rejected file is given back.
  result.addEventListener("htmx:afterSettle", () => {
    if (!result.querySelector("#panel[hx-get]")) refresh();
  });

  // The response is the page that a form without scripts gets: the submission, or a page with the refusal.
  const handleResponse = async (code, address, text) => {
    if (code < 400) {
      await showResult(address);
      return;
    }
    const refused = new DOMParser().parseFromString(text, "text/html");
    refuse(refused.querySelector("#refusal > *") || refused.querySelector("main h1") || sentence("The server could not accept the file. Try again. Your quota has not changed."));
  };

  // The buttons of the result, "Submit it anyway" and "Cancel this submission", also stay on this page.
  result.addEventListener("submit", async (event) => {
    event.preventDefault();
    const pressed = event.target;
    const pressedButton = pressed.querySelector("button");
    pressedButton.disabled = true;
    refusal.replaceChildren();
    try {
      const response = await fetch(pressed.action, { method: "POST", body: new FormData(pressed) });
      await handleResponse(response.status, response.url, await response.text());
    } catch {
      refuse(sentence("The connection was lost. Try again."));
    }
    pressedButton.disabled = false;
  });

  // Loads this page again to check whether a file may be submitted now, before the upload starts.
  const uploadRefusal = async () => {
    try {
      return (await page(location.href)).getElementById("not-now");
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
    request.addEventListener("load", () => {
      const sent = request;
      reset("");
      if (sent.status < 400) {
        form.reset();
        chosen.textContent = "";
        look.replaceChildren();
      }
      handleResponse(sent.status, sent.responseURL, sent.responseText);
    });
    request.addEventListener("error", () => reset("The connection was lost. Your file is still selected. Submit it again."));
    request.addEventListener("abort", () => reset("Upload stopped. Your quota has not changed."));
    request.send(new FormData(form));
    refusal.replaceChildren();
    bar.hidden = false;
    bar.value = 0;
    button.textContent = "Stop";
  });
})();
