"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const count = data.count;

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let at = 0; at < raw.length; at++) out[at] = raw.charCodeAt(at);
    return out.buffer;
  }
  const spots = new Uint16Array(bytes(data.spots));
  const groups = new Uint8Array(bytes(data.group));
  const values = data.value ? new Uint8Array(bytes(data.value)) : null;
  const many = new Uint16Array(bytes(data.many));
  const days = new Int32Array(bytes(data.day));
  const folder = new Uint32Array(bytes(data.folder));
  const themes = new Uint16Array(bytes(data.theme));
  const unlinked = new Set(data.unlinked);
  const NO_GROUP = 255, NO_VALUE = 255, NO_DAY = -(2 ** 31), NO_THEME = 65535;

  // The map's own coordinates: 0 to 65535 in the longer direction, spots are whole numbers in it.
  const canvas = document.getElementById("map"), ink = canvas.getContext("2d");
  const card = document.getElementById("card"), find = document.getElementById("find"), hits = document.getElementById("hits");
  const wide = data.wide, high = data.high;
  let scale = 1, left = 0, top = 0, fitted = 1, width = 1, height = 1, ratio = 1;
  let pixels = null, words = null, waiting = false;
  let shown = null;       // groups that are not greyed; null: all
  let found = null;       // Uint8Array of points that the search found, or null
  let over = -1, pinned = -1;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function rgb(hex) { return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)); }
  function packed(color) { return (255 << 24 | color[2] << 16 | color[1] << 8 | color[0]) >>> 0; }
  function mixed(one, other, share) { return one.map((value, at) => Math.round(value + (other[at] - value) * share)); }
  let look = null;
  function dress() {
    const paper = dark.matches ? [30, 31, 34] : [250, 250, 248];
    const plain = dark.matches ? [107, 109, 114] : [140, 139, 134];
    const colors = data.groups.map((group) => rgb(dark.matches ? group.dark : group.light));
    const low = dark.matches ? [70, 74, 84] : [206, 203, 194], high_ = dark.matches ? [255, 196, 84] : [0, 84, 150];
    const ramp = Array.from({length: 256}, (_, at) => mixed(low, high_, at / 254));
    look = {
      paper, colors, ramp,
      ink: dark.matches ? "#ececea" : "#1c1d1f", quiet: dark.matches ? "#a3a5aa" : "#5d6066",
      halo: dark.matches ? "#1e1f22" : "#fafaf8",
      ground: packed(paper), plain: packed(plain), faint: packed(mixed(paper, plain, 0.4)),
      group: colors.map(packed), value: ramp.map(packed),
    };
  }

  function resize() {
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    const before = [width, height];
    width = Math.max(1, Math.round(window.innerWidth * ratio));
    height = Math.max(1, Math.round(window.innerHeight * ratio));
    canvas.width = width; canvas.height = height;
    pixels = ink.createImageData(width, height);
    words = new Uint32Array(pixels.data.buffer);
    if (before[0] === 1) fit(); else draw();
  }
  function fit() {
    const margin = 48 * ratio;
    fitted = scale = Math.min((width - 2 * margin) / Math.max(wide, 1), (height - 2 * margin) / Math.max(high, 1));
    left = wide / 2 - width / 2 / scale; top = high / 2 - height / 2 / scale;
    draw();
  }
  function zoom(factor, x, y) {
    const to = Math.min(Math.max(scale * factor, fitted / 4), fitted * 400), real = to / scale;
    left += x / scale * (1 - 1 / real); top += y / scale * (1 - 1 / real); scale = to;
    draw();
  }
  function draw() {
    if (waiting) return;
    waiting = true;
    window.requestAnimationFrame(() => { waiting = false; paint(); });
  }

  const stencils = [];
  function stencil(radius) {
    if (!stencils[radius]) {
      const made = [], far = radius / 2;
      for (let y = -Math.ceil(far); y <= far; y++)
        for (let x = -Math.ceil(far); x <= far; x++) if (x * x + y * y <= far * far + 0.2) made.push(x, y);
      stencils[radius] = new Int16Array(made);
    }
    return stencils[radius];
  }
  function lit(at) {
    if (found) return found[at] === 1;
    return shown === null || shown.has(groups[at]);
  }
  function colorOf(at) {
    if (values) return values[at] === NO_VALUE ? look.plain : look.value[values[at]];
    return groups[at] === NO_GROUP ? look.plain : look.group[groups[at]];
  }
  function paint() {
    words.fill(look.ground);
    const base = Math.max(2, Math.round((count > 40000 ? 2.6 : count > 4000 ? 3.4 : 5) * ratio * Math.min(3, Math.max(1, Math.sqrt(scale / fitted) * 0.8))));
    const all = found === null && shown === null;
    for (let round = all ? 1 : 0; round < 2; round++) {
      for (let at = 0; at < count; at++) {
        const bright = all || lit(at);
        if (bright !== (round === 1)) continue;
        const x = Math.round((spots[2 * at] - left) * scale), y = Math.round((spots[2 * at + 1] - top) * scale);
        if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
        const dots = stencil(base + (many[at] > 1 ? Math.min(8, Math.ceil(Math.log2(many[at]) * ratio)) : 0));
        const color = bright ? colorOf(at) : look.faint;
        for (let dot = 0; dot < dots.length; dot += 2) {
          const px = x + dots[dot], py = y + dots[dot + 1];
          if (px >= 0 && py >= 0 && px < width && py < height) words[py * width + px] = color;
        }
      }
    }
    ink.putImageData(pixels, 0, 0);
    ring(over); ring(pinned);
    write();
  }
  function ring(at) {
    if (at < 0) return;
    ink.beginPath();
    ink.arc((spots[2 * at] - left) * scale, (spots[2 * at + 1] - top) * scale, 7 * ratio, 0, 7);
    ink.lineWidth = 2 * ratio; ink.strokeStyle = look.ink; ink.stroke();
  }
  function write() {
    const taken = [];
    ink.textAlign = "center"; ink.textBaseline = "middle"; ink.lineJoin = "round";
    for (const label of data.labels) {
      if (label.level && scale < 1.5 * fitted) continue;
      ink.font = (label.level ? "500 " + 12 * ratio : "600 " + 13 * ratio) + "px system-ui, sans-serif";
      const x = (label.x - left) * scale, y = (label.y - top) * scale;
      const half = ink.measureText(label.text).width / 2 + 4 * ratio, tall = 10 * ratio;
      if (x < 0 || y < 0 || x > width || y > height) continue;
      if (taken.some((box) => Math.abs(box[0] - x) < box[2] + half && Math.abs(box[1] - y) < box[3] + tall)) continue;
      taken.push([x, y, half, tall]);
      ink.lineWidth = 4 * ratio; ink.strokeStyle = look.halo; ink.strokeText(label.text, x, y);
      ink.fillStyle = label.level ? look.quiet : look.ink; ink.fillText(label.text, x, y);
    }
  }
  function at(x, y) {
    const reach = 10 * ratio / scale, mx = left + x / scale, my = top + y / scale;
    let best = reach * reach, hit = -1;
    for (let point = 0; point < count; point++) {
      const dx = spots[2 * point] - mx, dy = spots[2 * point + 1] - my, far = dx * dx + dy * dy;
      if (far < best && lit(point)) { best = far; hit = point; }
    }
    return hit;
  }

  function line(kind, text) {
    const made = document.createElement(kind);
    made.textContent = text;
    card.appendChild(made);
    return made;
  }
  function address(point) {
    return data.links[folder[point]] + data.names[point].split("/").map(encodeURIComponent).join("/");
  }
  function tell(point, x, y, stay) {
    card.replaceChildren();
    card.style.display = point < 0 ? "none" : "block";
    card.classList.toggle("pinned", stay);
    if (point < 0) return;
    line("b", data.titles[point] || data.names[point] || "Untitled");
    const place = data.folders[folder[point]];
    if (data.names[point]) line("span", place + data.names[point] + (data.inside[point] ? " › " + data.inside[point] : ""));
    const more = [];
    if (themes[point] !== NO_THEME) more.push(data.themes[themes[point]]);
    if (groups[point] !== NO_GROUP && !values && data.by !== "theme") more.push(data.groups[groups[point]].label);
    if (days[point] !== NO_DAY) more.push(new Date(days[point] * 864e5).toISOString().slice(0, 10));
    if (many[point] > 1) more.push("and " + (many[point] - 1).toLocaleString() + " more on this spot");
    if (more.length) line("span", more.join(" · "));
    if (stay && data.names[point] && data.links[folder[point]] && !unlinked.has(point)) {
      const link = line("a", "Open the file");
      link.href = address(point); link.target = "_blank"; link.rel = "noopener noreferrer";
    }
    const box = card.getBoundingClientRect();
    card.style.left = Math.max(8, Math.min(x + 14, window.innerWidth - box.width - 8)) + "px";
    card.style.top = Math.max(8, Math.min(y + 14, window.innerHeight - box.height - 8)) + "px";
  }
  function pin(point) {
    pinned = point;
    if (point < 0) { tell(-1, 0, 0, false); draw(); return; }
    tell(point, (spots[2 * point] - left) * scale / ratio, (spots[2 * point + 1] - top) * scale / ratio, true);
    draw();
  }
  function go(point) {
    scale = Math.max(scale, fitted * 4);
    left = spots[2 * point] - width / 2 / scale; top = spots[2 * point + 1] - height / 2 / scale;
    pin(point);
  }

  function search() {
    const wanted = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    hits.replaceChildren();
    if (!wanted.length) { found = null; draw(); return; }
    found = new Uint8Array(count);
    let sum = 0;
    for (let point = 0; point < count; point++) {
      const text = (data.titles[point] + " " + data.names[point] + " " + data.inside[point]).toLowerCase();
      if (!wanted.every((word) => text.includes(word))) continue;
      found[point] = 1;
      if (sum++ < 20) {
        const item = document.createElement("li"), button = document.createElement("button"), name = document.createElement("span");
        name.className = "name"; name.textContent = data.titles[point] || data.names[point];
        button.appendChild(name); button.addEventListener("click", () => go(point));
        item.appendChild(button); hits.appendChild(item);
      }
    }
    const last = document.createElement("li");
    last.textContent = sum ? (sum > 20 ? (sum - 20).toLocaleString() + " more are lit on the map" : "") : "No title has these words";
    hits.appendChild(last);
    draw();
  }

  function legend() {
    const box = document.getElementById("legend");
    box.replaceChildren();
    const head = document.createElement("h2");
    head.textContent = data.words;
    box.appendChild(head);
    if (values) {
      const bar = document.createElement("div"), ends = document.createElement("div");
      bar.id = "scale"; ends.id = "ends";
      bar.style.background = "linear-gradient(to right, rgb(" + look.ramp[0] + "), rgb(" + look.ramp[254] + "))";
      for (const text of [data.low, data.high_word]) {
        const end = document.createElement("span");
        end.textContent = text; ends.appendChild(end);
      }
      box.append(bar, ends);
    }
    data.groups.forEach((group, place) => {
      const button = document.createElement("button"), dot = document.createElement("span");
      const name = document.createElement("span"), sum = document.createElement("span");
      dot.className = "dot"; name.className = "name"; sum.className = "count";
      if (!values) dot.style.background = "rgb(" + look.colors[place] + ")";
      name.textContent = group.label; sum.textContent = group.count.toLocaleString();
      button.append(dot, name, sum);
      button.setAttribute("aria-pressed", String(shown === null || shown.has(place)));
      button.addEventListener("click", (event) => choose(place, event.ctrlKey || event.metaKey));
      box.appendChild(button);
    });
    box.style.display = data.groups.length || values ? "block" : "none";
  }
  function choose(place, add) {
    const alone = shown !== null && shown.size === 1 && shown.has(place);
    if (add) {
      shown = shown === null ? new Set(data.groups.keys()) : new Set(shown);
      if (!shown.delete(place)) shown.add(place);
      if (shown.size === data.groups.length || !shown.size) shown = null;
    } else shown = alone ? null : new Set([place]);
    const buttons = document.getElementById("legend").querySelectorAll("button");
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(shown === null || shown.has(at))));
    draw();
  }

  const held = new Map();
  let pressed = null, apart = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, [event.clientX, event.clientY]);
    pressed = [event.clientX, event.clientY];
    apart = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const x = event.clientX, y = event.clientY, before = held.get(event.pointerId);
    if (!before) {
      const hit = at(x * ratio, y * ratio);
      if (hit !== over) { over = hit; draw(); }
      if (pinned < 0) tell(hit, x, y, false);
      return;
    }
    held.set(event.pointerId, [x, y]);
    if (held.size === 2) {
      const [one, other] = [...held.values()], far = Math.hypot(one[0] - other[0], one[1] - other[1]);
      if (apart) zoom(far / apart, (one[0] + other[0]) / 2 * ratio, (one[1] + other[1]) / 2 * ratio);
      apart = far; pressed = null;
      return;
    }
    left -= (x - before[0]) * ratio / scale; top -= (y - before[1]) * ratio / scale;
    if (pressed && Math.hypot(x - pressed[0], y - pressed[1]) > 4) pressed = null;
    if (pinned >= 0 && !pressed) pin(-1);
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    held.delete(event.pointerId);
    if (pressed) pin(at(event.clientX * ratio, event.clientY * ratio));
    pressed = null;
  });
  canvas.addEventListener("pointercancel", (event) => { held.delete(event.pointerId); pressed = null; });
  canvas.addEventListener("pointerleave", () => { over = -1; if (pinned < 0) tell(-1, 0, 0, false); draw(); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX * ratio, event.clientY * ratio);
    if (pinned >= 0) pin(-1);
  }, {passive: false});
  document.addEventListener("keydown", (event) => {
    const typing = event.target === find, step = 60 * ratio / scale;
    if (event.key === "Escape") { find.value = ""; shown = null; search(); legend(); pin(-1); canvas.focus(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const onMap = event.target === canvas || event.target === document.body;
    if (event.key === "/") { event.preventDefault(); find.focus(); }
    else if (event.key === "+" || event.key === "=") zoom(1.3, width / 2, height / 2);
    else if (event.key === "-") zoom(1 / 1.3, width / 2, height / 2);
    else if (event.key === "0" || event.key === "f") fit();
    else if (onMap && event.key === "ArrowLeft") { left -= step; draw(); }
    else if (onMap && event.key === "ArrowRight") { left += step; draw(); }
    else if (onMap && event.key === "ArrowUp") { top -= step; draw(); }
    else if (onMap && event.key === "ArrowDown") { top += step; draw(); }
  });
  let typed = 0;
  find.addEventListener("input", () => { window.clearTimeout(typed); typed = window.setTimeout(search, 120); });
  dark.addEventListener("change", () => { dress(); legend(); draw(); });
  window.addEventListener("resize", resize);
  dress(); legend(); resize();
})();
