// The page: what is played, by whom it is moved, and what a live simulation is told.

class Page {
  constructor({ scene, motion, live }) {
    this.scene = scene;
    this.live = live;
    this.playing = false;
    this.speed = 1;
    this.followed = "nothing";
    this.fresh = null;  // the moment that a simulation is at, while it is stepped
    this.build();
    this.take(motion);
    this.watchPointer();
    this.watchKeys();
    if (live) this.listen();
    if (location.hash === "#play") this.play(true);
    new ResizeObserver(() => this.change()).observe(this.canvas);
    requestAnimationFrame((now) => this.tick(now));
  }

  build() {
    this.canvas = element("canvas", { ariaLabel: "the run" });
    const labels = element("div", { id: "labels" });
    this.note = element("div", { id: "note", textContent: this.scene.note });
    const legend = element("div", { id: "legend" });
    for (const [text, colour] of Object.entries(this.scene.legend))
      legend.append(element("i", { style: `background: rgb(${colour.map((c) => 255 * c)})` }), text);
    document.body.append(element("div", { id: "world" }, this.canvas, labels), element("div", { id: "title", textContent: this.scene.name }),
      legend, this.note, this.buildBar(), this.buildPanel());
    this.picture = new Picture(this.canvas, labels, this.scene);
  }

  buildBar() {
    this.line = element("input", { type: "range", min: 0, max: 0, step: 1, value: 0, ariaLabel: "time", role: "slider",
      oninput: () => this.go(+this.line.value) });
    this.clock = element("span", { id: "clock" });
    this.start = button("▶", () => this.play(!this.playing), "play or pause (space)");
    const speeds = element("select", { ariaLabel: "speed", title: "speed", className: "wide", onchange: () => { this.speed = +speeds.value; } },
      ...["0.01", "0.1", "0.25", "0.5", "1", "2", "5"].map((s) => element("option", { value: s, textContent: s + " ×", selected: s === "1" })));
    return element("div", { id: "bar" }, this.start, button("‹", () => this.step(-1), "one moment back (left arrow)"),
      button("›", () => this.step(1), "one moment on (right arrow)"), this.line, this.clock, speeds,
      button("☰", () => { document.body.classList.toggle("wide"); this.change(); }, "controls and plots"));
  }

  buildPanel() {
    this.sheets = { show: this.sheetOfShow() };
    if (this.live) Object.assign(this.sheets, this.sheetsOfRun());
    this.sheets.plots = element("div", { className: "sheet" });
    const tabs = element("div", { id: "tabs", role: "tablist" });
    for (const name of Object.keys(this.sheets)) tabs.append(element("button", { textContent: name, role: "tab", type: "button", onclick: () => this.open(name) }));
    this.panel = element("div", { id: "panel" }, tabs, ...Object.values(this.sheets));
    document.body.classList.toggle("wide", window.innerWidth <= 720);
    this.open("show");
    return this.panel;
  }

  open(name) {
    for (const [other, sheet] of Object.entries(this.sheets)) sheet.hidden = other !== name;
    for (const tab of this.panel ? this.panel.querySelectorAll("[role=tab]") : []) tab.ariaSelected = String(tab.textContent === name);
    this.change();
  }

  sheetOfShow() {
    const box = (text, what, on, title) => checkbox(text, on, (yes) => { this.picture.show[what] = yes; this.change(); }, title);
    const names = ["nothing", ...this.scene.members.map((m) => m.name)];
    const keep = element("div", { className: "row" }, button("picture", () => this.keepPicture(), "the view as a PNG"));
    if (this.live) keep.append(button("film", () => this.keepFilm(), "the whole run as MP4; needs the extra [render]"));
    return element("div", { className: "sheet" }, element("h2", { textContent: "Contacts" }),
      box("points", "points", true, "blue sticks, orange slips, red impact"), box("forces", "forces", true, "arrows, to one scale"),
      box("friction cones", "cones", false, ""), element("h2", { textContent: "Bodies" }),
      box("collision shapes", "shapes", false, "instead of what is drawn of the files"), box("names", "names", false, "a click on a body shows its own"),
      element("h2", { textContent: "Camera" }), choice("follow", names, "nothing", (name) => { this.followed = name; this.place = null; this.change(); }),
      element("div", { className: "row" }, button("home", () => { this.picture.home(); this.place = null; this.change(); }, "as at the start (h)")),
      element("p", { textContent: "Drag: turn. Shift and drag, or right button: move. Wheel: closer. Space: play. A click: the name of a body." }),
      element("h2", { textContent: "Keep" }), keep);
  }

  sheetsOfRun() {
    const { members, load, walkers, joints, driven, models, model } = this.live, run = element("div", { className: "sheet" });
    const told = { seconds: 2, who: members[0], newtons: load, along: "+y", model, friction: 0.7, change: false };
    const set = (name) => (value) => { told[name] = value; };
    run.append(element("h2", { textContent: "Run on" }), slider("for [s]", 0.1, 10, 0.1, 2, set("seconds")),
      choice("push", members, members[0], set("who")), slider("force [N]", 0, 50 * load, load / 20, load, set("newtons")),
      choice("along", ["+x", "-x", "+y", "-y", "+z"], "+y", set("along")),
      element("div", { className: "row" }, button("run", () => this.tell("run", told)), button("push for 0.2 s", () => this.tell("push", told))));
    if (models.length)
      run.append(element("h2", { textContent: "From here, with" }), choice("contact model", models, model, set("model")),
        checkbox("change friction", false, set("change")), slider("friction [-]", 0, 1.5, 0.01, 0.7, set("friction")),
        element("div", { className: "row" }, button("run again from this time", () => this.tell("again", { ...told, t: this.time }))));
    for (const robot of walkers) {
      const velocity = [0, 0, 0];
      run.append(element("h2", { textContent: robot + " walks" }));
      [["forward [m/s]", 1], ["left [m/s]", 0.5], ["turning [rad/s]", 1]].forEach(([text, most], i) =>
        run.append(slider(text, -most, most, 0.05, 0, (x) => { velocity[i] = x; this.tell("walk", { robot, velocity }); })));
    }
    const moved = element("div", { className: "sheet" });
    for (const { name, iq, low, high, value } of joints)
      moved.append(slider(name, low, high, (high - low) / 500, value, (x) => this.tell("joint", { iq, value: x })));
    return joints.length ? { run, [driven ? "targets" : "joints"]: moved } : { run };
  }

  // Times, poses and contacts of a run take the place of those that were shown.
  take(motion) {
    const t = numbers(motion.t, Float64Array), n = t.length, poses = numbers(motion.poses), contacts = this.contactsOf(motion.contacts);
    Object.assign(this, { t, poses, contacts, width: n ? poses.length / n : 0, scale: motion.scale || this.scale || 0, fresh: null });
    this.curves = Object.fromEntries(Object.entries(motion.curves).map(([title, rows]) =>
      [title, Object.fromEntries(Object.entries(rows).map(([name, values]) => [name, numbers(values, Float64Array)]))]));
    this.plots = Object.keys(this.curves).map((title) => [title, new Plot(title, (s) => this.seek(s))]);
    this.sheets.plots.replaceChildren(...this.plots.map(([, plot]) => plot.node));
    if (motion.stride > 1) this.say(`one of ${motion.stride} moments of ${motion.moments} is shown, so that the page stays small`);
    this.line.max = n - 1;
    this.go(0);
  }

  contactsOf(c) {
    return { start: numbers(c.start, Uint32Array), point: numbers(c.point), normal: numbers(c.normal), force: numbers(c.force),
      mode: numbers(c.mode, Uint8Array), mu: numbers(c.mu) };
  }

  moment() {
    if (this.fresh) return this.fresh;
    const i = this.index, c = this.contacts, from = c.start[i], to = c.start[i + 1], of3 = (a) => a.subarray(3 * from, 3 * to);
    return { poses: this.poses.subarray(this.width * i, this.width * (i + 1)),
      contacts: { point: of3(c.point), normal: of3(c.normal), force: of3(c.force), mode: c.mode.subarray(from, to), mu: c.mu.subarray(from, to) } };
  }

  get time() {
    return this.fresh ? this.fresh.t : this.t[this.index];
  }

  // Shows a moment by its number. One who looks back while the simulation goes on sees what it remembers.
  go(index) {
    if (this.fresh) { this.refresh().then(() => this.go(this.t.length - 1)); return; }
    this.index = Math.min(Math.max(index, 0), this.t.length - 1);
    this.line.value = this.index;
    this.at = this.t[this.index];
    this.change();
  }

  seek(time) {
    let low = 0, high = this.t.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.t[middle] > time) high = middle;
      else low = middle;
    }
    this.go(Math.abs(this.t[high] - time) < Math.abs(this.t[low] - time) ? high : low);
    this.at = time;
  }

  step(by) {
    this.play(false);
    this.go(this.index + by);
  }

  play(on) {
    if (on && this.index >= this.t.length - 1) this.go(0);
    this.playing = on;
    this.start.textContent = on ? "❚❚" : "▶";
    this.last = null;
  }

  change() {
    this.changed = true;
  }

  tick(now) {
    if (this.playing && this.last !== null && this.last !== undefined) {
      this.seek(Math.min(this.at + this.speed * (now - this.last) / 1000, this.t[this.t.length - 1]));
      if (this.at >= this.t[this.t.length - 1]) this.play(false);
    }
    this.last = now;
    if (this.changed && this.t) {
      this.changed = false;
      const moment = this.moment();
      this.goAlong(moment);
      this.picture.draw(moment, this.scale);
      this.clock.textContent = this.time.toFixed(3) + " s";
      if (!this.sheets.plots.hidden && !this.fresh) for (const [title, plot] of this.plots) plot.draw(this.t, this.curves[title], this.time);
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  // The camera moves as far as what it follows.
  goAlong(moment) {
    const member = this.scene.members.find((m) => m.name === this.followed);
    if (!member) return;
    const p = [3, 7, 11].map((k) => moment.poses[12 * member.body + k]);
    if (this.place) this.picture.target = plus(this.picture.target, minus(p, this.place));
    this.place = p;
  }

  say(text) {
    this.note.textContent = text;
  }

  watchPointer() {
    const held = new Map();
    let travelled = 0, apart = 0;
    this.canvas.oncontextmenu = (event) => event.preventDefault();
    this.canvas.onpointerdown = (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, [event.clientX, event.clientY]);
      [travelled, apart] = [0, 0];
    };
    this.canvas.onpointermove = (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
      held.set(event.pointerId, [event.clientX, event.clientY]);
      travelled += Math.abs(dx) + Math.abs(dy);
      if (held.size === 2) {
        const [a, b] = [...held.values()], distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (apart) this.closer(apart / distance);
        apart = distance;
        this.pan(dx / 2, dy / 2);
      } else if (event.shiftKey || event.buttons & 6) this.pan(dx, dy);
      else this.turn(dx, dy);
    };
    this.canvas.onpointerup = this.canvas.onpointercancel = (event) => {
      held.delete(event.pointerId);
      apart = 0;
      if (event.type === "pointerup" && travelled < 4) this.click(event);
    };
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.closer(Math.exp(0.001 * Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 200)));
    }, { passive: false });
  }

  turn(dx, dy) {
    this.picture.turn -= 0.006 * dx;
    this.picture.rise = Math.min(1.55, Math.max(-1.55, this.picture.rise + 0.006 * dy));
    this.change();
  }

  pan(dx, dy) {
    const p = this.picture, per = 2 * p.away * Math.tan(0.35) / this.canvas.clientHeight, z = unit(minus(p.target, p.eye));
    const right = unit(cross(z, [0, 0, 1]));
    p.target = plus(p.target, plus(times(-dx * per, right), times(dy * per, cross(right, z))));
    this.change();
  }

  closer(factor) {
    const { size } = this.scene;
    this.picture.away = Math.min(200 * size, Math.max(0.02 * size, factor * this.picture.away));
    this.change();
  }

  click(event) {
    const box = this.canvas.getBoundingClientRect(), found = this.picture.under(event.clientX - box.x, event.clientY - box.y);
    this.picture.clicked = found === this.picture.clicked ? null : found;
    this.change();
  }

  watchKeys() {
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
      const act = { " ": () => this.play(!this.playing), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Home: () => this.step(-1e9),
        End: () => this.step(1e9), h: () => { this.picture.home(); this.place = null; this.change(); } }[event.key];
      if (!act || (event.key === " " && event.target.tagName === "BUTTON")) return;
      event.preventDefault();
      act();
    });
  }

  download(blob, name) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  keepPicture() {
    this.picture.draw(this.moment(), this.scale);
    this.canvas.toBlob((blob) => this.download(blob, this.scene.name + ".png"));
  }

  async keepFilm() {
    this.say("drawing a film …");
    const answer = await fetch("film");
    if (!answer.ok) { this.say("no film: " + await answer.text()); return; }
    this.download(await answer.blob(), this.scene.name + ".mp4");
    this.say("");
  }

  // What the server says while the simulation is stepped or told to run.
  listen() {
    const events = new EventSource("events");
    events.addEventListener("moment", (event) => this.showFresh(JSON.parse(event.data)));
    events.addEventListener("note", (event) => this.say(JSON.parse(event.data)));
    events.addEventListener("motion", (event) => this.refresh().then(() => { this.seek(JSON.parse(event.data).from); this.play(JSON.parse(event.data).play); }));
    events.addEventListener("seek", (event) => this.seek(JSON.parse(event.data)));
    events.onerror = () => this.say("the program that shows this run has ended, or does not answer");
    events.onopen = () => this.say(this.scene.note);
  }

  showFresh({ t, poses, contacts }) {
    this.play(false);
    this.fresh = { t, poses: numbers(poses), contacts: this.contactsOf(contacts) };
    this.change();
  }

  async refresh() {
    const answer = await fetch("motion");
    if (answer.ok) this.take(await answer.json());
    else { this.fresh = null; this.say(await answer.text()); }
  }

  // One order after the other, as they were given.
  tell(what, values) {
    this.told = (this.told || Promise.resolve()).then(async () => {
      const answer = await fetch("do", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ what, ...values }) });
      if (!answer.ok) this.say(await answer.text());
    }).catch((error) => this.say("the program does not answer: " + error.message));
    return this.told;
  }
}

async function begin() {
  try {
    const told = JSON.parse(document.getElementById("told").textContent);
    if (told) window.page = new Page(told);
    else {
      const [still, motion] = await Promise.all(["scene", "motion"].map(async (name) => (await fetch(name)).json()));
      window.page = new Page({ ...still, motion });
    }
  } catch (error) {
    document.body.append(element("p", { id: "note", textContent: "This page cannot be shown: " + error.message }));
  }
}
begin();
