// The picture of one moment: sky, ground, bodies with their shadows, contacts, names.

const SHADOW = 2048;  // pixels along a side

function numbers(text, Kind = Float32Array) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return new Kind(bytes.buffer);
}

class Picture {
  constructor(canvas, labels, scene) {
    this.canvas = canvas;
    this.labels = labels;
    this.scene = scene;
    this.show = { points: true, forces: true, cones: false, shapes: false, names: false };
    this.clicked = null;
    const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2, by which the page is drawn");
    this.gl = gl;
    this.bodies = program(gl, VERTEX, FRAGMENT);
    this.dark = program(gl, VERTEX, DEPTH_FRAGMENT);
    this.sky = program(gl, SKY_VERTEX, SKY_FRAGMENT);
    this.meshes = scene.meshes.map((m) => {
      const mesh = upload(gl, numbers(m.vertices), numbers(m.faces, Uint32Array), m.uv && numbers(m.uv));
      mesh.texture = m.texture && paint(gl, numbers(m.texture, Uint8Array), m.width, m.height);
      return mesh;
    });
    for (const part of [...scene.drawn, ...scene.shapes]) part.matrix = pose(part.place);
    this.grounds = scene.grounds.map((rows) => this.ground(pose(rows)));
    const arc = Array.from({ length: 9 }, (_, k) => [Math.sin(Math.PI * k / 8), -Math.cos(Math.PI * k / 8)]);
    this.ball = turned(gl, arc, 16);
    this.shaft = turned(gl, [[0, 0], [1, 0], [1, 1]]);
    this.head = turned(gl, [[0, 0], [1, 0], [0, 1]]);
    this.cone = turned(gl, [[0, 0], [1, 1]], 28);
    this.prepareShadow();
    this.home();
  }

  home() {
    this.target = [...this.scene.middle];
    const aspect = this.canvas.clientWidth / (this.canvas.clientHeight || 1) || 1;
    this.away = 0.53 * this.scene.size / Math.sin(0.35) / Math.min(1, aspect);
    this.turn = Math.atan2(-1.15, 1.0);
    this.rise = Math.atan2(0.55, Math.hypot(1.0, 1.15));
  }

  get eye() {
    const c = Math.cos(this.rise);
    return plus(this.target, times(this.away, [c * Math.cos(this.turn), c * Math.sin(this.turn), Math.sin(this.rise)]));
  }

  ground(place) {
    const { tile, size, middle } = this.scene, half = Math.max(60 * tile, 20 * size);
    const at = within(place, middle).map((x) => 2 * tile * Math.round(x / (2 * tile)));
    const vertices = [], uv = [];
    for (const [x, y] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
      vertices.push(at[0] + half * x, at[1] + half * y, 0);
      uv.push((at[0] + half * x) / tile, (at[1] + half * y) / tile);
    }
    const mesh = upload(this.gl, new Float32Array(vertices), new Uint32Array([0, 1, 2, 0, 2, 3]), new Float32Array(uv));
    return { mesh, place, reach: half };
  }

  prepareShadow() {
    const gl = this.gl;
    this.depth = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.depth);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    this.target_of_shadow = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target_of_shadow);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depth, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindTexture(gl.TEXTURE_2D, null);
  }

  // poses: 12 numbers a body; contacts: {point, normal, force, mode, mu}; scale: metres to a newton.
  draw(moment, scale) {
    this.moment = moment;
    const gl = this.gl, dense = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map((x) => Math.max(1, Math.round(dense * x)));
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    const eye = this.eye, sun = unit([0.35, -0.45, 1]);
    const near = Math.max(0.01 * this.away, 1e-5);
    this.camera = product(perspective(0.7, width / height, near, near * 2e4), looking(eye, this.target, [0, 0, 1]));
    const lit = Math.min(Math.max(1.1 * this.scene.size, this.away), 6 * this.scene.size);
    const light = product(orthographic(lit, 4 * lit), looking(plus(this.target, sun), this.target, [0, 1, 0]));
    const parts = (this.show.shapes ? this.scene.shapes : this.scene.drawn).map((part) => [part, this.matrixOf(part)]);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.castShadows(parts.filter(([part]) => part.opacity >= 1), light);
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawSky();
    this.begin(this.camera, light, eye, sun);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.depth);
    gl.activeTexture(gl.TEXTURE0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    for (const g of this.grounds) {
      gl.uniform1f(this.bodies.names.reach, g.reach);
      this.put(g.mesh, g.place, [1, 1, 1, 1], 2);
    }
    for (const [part, matrix] of parts) if (part.opacity >= 1) this.putPart(part, matrix);
    this.drawContacts(moment.contacts, scale);
    for (const [part, matrix] of parts) if (part.opacity < 1) this.putPart(part, matrix);
    if (this.show.cones) this.drawCones(moment.contacts);
    this.writeNames();
  }

  castShadows(parts, light) {
    const gl = this.gl, { made, names } = this.dark;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target_of_shadow);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(made);
    gl.uniformMatrix4fv(names.camera, false, light);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
    for (const [part, matrix] of parts) {
      gl.uniformMatrix4fv(names.model, false, matrix);
      gl.bindVertexArray(this.meshes[part.mesh].array);
      gl.drawElements(gl.TRIANGLES, this.meshes[part.mesh].count, gl.UNSIGNED_INT, 0);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  matrixOf(part) {
    return part.body < 0 ? part.matrix : product(pose(this.moment.poses, 12 * part.body), part.matrix);
  }

  begin(camera, light, eye, sun) {
    const gl = this.gl, { made, names } = this.bodies, { middle, colours } = this.scene;
    gl.useProgram(made);
    gl.uniformMatrix4fv(names.camera, false, camera);
    gl.uniformMatrix4fv(names.light, false, light);
    gl.uniform3fv(names.eye, eye);
    gl.uniform3fv(names.sun, sun);
    gl.uniform3fv(names.middle, middle);
    gl.uniform3fv(names.tile_a, colours.tiles[0]);
    gl.uniform3fv(names.tile_b, colours.tiles[1]);
    gl.uniform1i(names.picture, 0);
    gl.uniform1i(names.shadow, 1);
    gl.uniform1f(names.shine, 0);
  }

  drawSky() {
    const gl = this.gl, { made, names } = this.sky, [above, horizon] = this.scene.colours.sky;
    gl.useProgram(made);
    gl.disable(gl.DEPTH_TEST);
    gl.uniform3fv(names.above, above);
    gl.uniform3fv(names.horizon, horizon);
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);
  }

  put(mesh, matrix, colour, kind) {
    const gl = this.gl, { names } = this.bodies;
    gl.uniformMatrix4fv(names.model, false, matrix);
    gl.uniform4fv(names.colour, colour);
    gl.uniform1i(names.kind, kind);
    gl.bindVertexArray(mesh.array);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
  }

  putPart(part, matrix) {
    const gl = this.gl, mesh = this.meshes[part.mesh], chosen = part === this.clicked;
    if (mesh.texture) gl.bindTexture(gl.TEXTURE_2D, mesh.texture);
    gl.uniform1f(this.bodies.names.shine, 0.12);
    const colour = chosen ? part.colour.map((c) => 0.5 * c + 0.5) : part.colour;
    this.put(mesh, matrix, [...colour, part.opacity], mesh.texture ? 1 : 0);
    gl.uniform1f(this.bodies.names.shine, 0);
  }

  drawContacts(contacts, scale) {
    const { size, modes, colours } = this.scene, thin = 0.009 * size;
    for (let i = 0; i < contacts.mu.length; ++i) {
      const p = [...contacts.point.subarray(3 * i, 3 * i + 3)];
      if (this.show.points) {
        const r = 0.008 * size;
        this.put(this.ball, frame([r, 0, 0], [0, r, 0], [0, 0, r], p), [...(modes[contacts.mode[i]] || [0, 0, 0]), 1], 0);
      }
      const f = times(scale, [...contacts.force.subarray(3 * i, 3 * i + 3)]), long = Math.min(length(f), 0.6 * size);
      if (!this.show.forces || long < 0.2 * thin) continue;
      const z = unit(f), [x, y] = this.across(z), neck = Math.max(long - 6 * thin, 0.6 * long), colour = [...colours.force, 1];
      this.put(this.shaft, frame(times(thin, x), times(thin, y), times(neck, z), p), colour, 0);
      this.put(this.head, frame(times(2.4 * thin, x), times(2.4 * thin, y), times(long - neck, z), plus(p, times(neck, z))), colour, 0);
    }
  }

  drawCones(contacts) {
    const h = 0.12 * this.scene.size;
    this.gl.depthMask(false);
    for (let i = 0; i < contacts.mu.length; ++i) {
      const z = [...contacts.normal.subarray(3 * i, 3 * i + 3)], [x, y] = this.across(z), r = h * Math.min(contacts.mu[i], 3);
      const matrix = frame(times(r, x), times(r, y), times(h, z), [...contacts.point.subarray(3 * i, 3 * i + 3)]);
      this.put(this.cone, matrix, [...this.scene.colours.cone, 0.35], 0);
    }
    this.gl.depthMask(true);
  }

  across(z) {
    const x = unit(cross(z, Math.abs(z[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]));
    return [x, cross(z, x)];
  }

  writeNames() {
    const wanted = this.show.names ? this.scene.bodies.map((name, body) => ({ name, body })) : [];
    if (this.clicked) wanted.push(this.clicked);
    while (this.labels.children.length > wanted.length) this.labels.lastChild.remove();
    while (this.labels.children.length < wanted.length) this.labels.append(document.createElement("span"));
    wanted.forEach(({ name, body, matrix }, i) => {
      const label = this.labels.children[i];
      const m = body < 0 ? matrix : pose(this.moment.poses, 12 * body), p = [m[12], m[13], m[14]];
      const w = this.camera[3] * p[0] + this.camera[7] * p[1] + this.camera[11] * p[2] + this.camera[15];
      const [x, y] = moved(this.camera, p).map((c) => c / w);
      label.textContent = name;
      label.hidden = w <= 0;
      label.style.left = 50 * (1 + x) + "%";
      label.style.top = 50 * (1 - y) + "%";
    });
  }

  // What lies under a point of the canvas, in pixels of the page; null: nothing.
  under(x, y) {
    const { clientWidth: width, clientHeight: height } = this.canvas, z = unit(minus(this.target, this.eye));
    const right = unit(cross(z, [0, 0, 1])), up = cross(right, z), tangent = Math.tan(0.35);
    const ray = unit(plus(z, plus(times(tangent * width / height * (2 * x / width - 1), right), times(tangent * (1 - 2 * y / height), up))));
    let best = Infinity, found = null;
    for (const part of this.show.shapes ? this.scene.shapes : this.scene.drawn) {
      const m = this.matrixOf(part), from = within(m, this.eye), to = minus(within(m, plus(this.eye, ray)), from);
      const at = this.hit(this.meshes[part.mesh], from, to);
      if (at < best) [best, found] = [at, part];
    }
    return found;
  }

  // How far along a ray a mesh is met; Infinity: not at all.
  hit({ vertices, faces }, from, along) {
    let best = Infinity;
    const corner = (i) => [vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]];
    for (let k = 0; k < faces.length; k += 3) {
      const a = corner(faces[k]), u = minus(corner(faces[k + 1]), a), v = minus(corner(faces[k + 2]), a), n = cross(u, v);
      const down = -dot(n, along);
      if (Math.abs(down) < 1e-30) continue;
      const d = minus(from, a), t = dot(n, d) / down;
      if (t <= 0 || t >= best) continue;
      const e = cross(d, along), s = dot(v, e) / down, r = -dot(u, e) / down;
      if (Math.min(s, r, 1 - s - r) >= 0) best = t;
    }
    return best;
  }
}
