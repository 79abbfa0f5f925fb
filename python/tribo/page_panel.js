// Controls beside the picture, and plots over time.

const INKS = ["#2471a3", "#e67e22", "#1e8449", "#8e44ad", "#c0392b"];

function element(kind, properties = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(properties))
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const button = (text, act, title = "") => element("button", { textContent: text, onclick: act, title, type: "button" });

function checkbox(text, on, change, title = "") {
  const box = element("input", { type: "checkbox", checked: on, onchange: () => change(box.checked) });
  return element("label", { title }, box, text);
}

function choice(text, options, chosen, change) {
  const list = element("select", { onchange: () => change(list.value), ariaLabel: text },
    ...options.map((value) => element("option", { value, textContent: value, selected: value === chosen })));
  return element("label", {}, text, list);
}

function slider(text, low, high, step, value, change) {
  const shown = (x) => String(+x.toPrecision(4));
  const says = element("output", { textContent: shown(value) });
  const line = element("input", { type: "range", min: low, max: high, step, value, ariaLabel: text,
    oninput: () => { says.textContent = shown(+line.value); change(+line.value); } });
  return element("label", { className: "slider" }, text, says, line);
}

// 1, 2 or 5 times a power of ten, so that about `wanted` of them fit.
function graduation(range, wanted) {
  const raw = range / wanted, power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((m) => m * power >= raw);
}

class Plot {
  constructor(title, seek) {
    this.canvas = element("canvas", { title: "click: go there" });
    this.node = element("div", {}, element("h2", { textContent: title }), this.canvas);
    this.canvas.onclick = (event) => {
      const box = this.canvas.getBoundingClientRect();
      if (this.to > this.from) seek(this.from + (this.to - this.from) * Math.min(1, Math.max(0, (event.clientX - box.x - 46) / (box.width - 54))));
    };
  }

  draw(t, rows, now) {
    const dense = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width) return;
    [this.canvas.width, this.canvas.height] = [Math.round(dense * width), Math.round(dense * height)];
    const ink = this.canvas.getContext("2d"), names = Object.keys(rows);
    ink.scale(dense, dense);
    ink.font = "11px system-ui, sans-serif";
    [this.from, this.to] = [t[0], t[t.length - 1]];
    let low = Infinity, high = -Infinity;
    for (const name of names) for (const y of rows[name]) if (Number.isFinite(y)) [low, high] = [Math.min(low, y), Math.max(high, y)];
    if (!(high >= low)) [low, high] = [0, 1];
    if (high - low < 1e-12 * Math.max(Math.abs(low), Math.abs(high), 1e-300)) [low, high] = [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
    const [left, right, top, bottom] = [46, width - 8, 18, height - 18];
    const x = (s) => left + (right - left) * (s - this.from) / (this.to - this.from || 1);
    const y = (v) => bottom - (bottom - top) * (v - low) / (high - low);
    this.scale(ink, low, high, y, left, right, bottom, x);
    names.forEach((name, k) => {
      ink.strokeStyle = INKS[k % INKS.length];
      ink.lineWidth = 1.5;
      ink.beginPath();
      const values = rows[name];
      for (let i = 0, on = false; i < values.length; ++i) {
        if (!Number.isFinite(values[i])) { on = false; continue; }
        if (on) ink.lineTo(x(t[i]), y(values[i]));
        else ink.moveTo(x(t[i]), y(values[i]));
        on = true;
      }
      ink.stroke();
    });
    let at = left;
    names.forEach((name, k) => {
      ink.fillStyle = INKS[k % INKS.length];
      ink.fillText(name, at, 11);
      at += ink.measureText(name).width + 12;
    });
    ink.strokeStyle = "#c0392b";
    ink.lineWidth = 1;
    ink.beginPath();
    ink.moveTo(x(now), top);
    ink.lineTo(x(now), bottom);
    ink.stroke();
  }

  scale(ink, low, high, y, left, right, bottom, x) {
    ink.fillStyle = "#56606b";
    ink.strokeStyle = "#e3e8ed";
    ink.lineWidth = 1;
    const rise = graduation(high - low, 3), digits = Math.max(0, -Math.floor(Math.log10(rise)));
    ink.textAlign = "right";
    for (let v = Math.ceil(low / rise) * rise; v <= high + 1e-9 * rise; v += rise) {
      ink.beginPath();
      ink.moveTo(left, y(v));
      ink.lineTo(right, y(v));
      ink.stroke();
      const text = Math.abs(v) < 1e-9 * rise ? "0" : digits > 3 || Math.abs(v) >= 1e5 ? v.toExponential(0) : v.toFixed(digits);
      ink.fillText(text, left - 4, y(v) + 4);
    }
    ink.textAlign = "center";
    const step = graduation(this.to - this.from || 1, 4), decimals = Math.max(0, -Math.floor(Math.log10(step)));
    for (let s = Math.ceil(this.from / step) * step; s <= this.to + 1e-9 * step; s += step) ink.fillText(s.toFixed(decimals) + " s", Math.min(x(s), right - 8), bottom + 14);
    ink.textAlign = "left";
  }
}
