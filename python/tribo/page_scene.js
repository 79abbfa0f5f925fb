// Vectors, matrices (columns one after the other) and the programs of the graphics card. Lengths in metres, z up.

const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(1 / (length(a) || 1), a);

function product(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; ++i)
    for (let j = 0; j < 4; ++j)
      for (let k = 0; k < 4; ++k) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}

// Of the first three rows of a pose, from `at` on.
function pose(rows, at = 0) {
  const m = new Float32Array(16);
  for (let i = 0; i < 3; ++i)
    for (let j = 0; j < 4; ++j) m[4 * j + i] = rows[at + 4 * i + j];
  m[15] = 1;
  return m;
}

// Columns x, y, z and where it is.
const frame = (x, y, z, p) => new Float32Array([...x, 0, ...y, 0, ...z, 0, ...p, 1]);

function moved(m, p) {
  return [0, 1, 2].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
}

// A point in the coordinates of a pose, which neither stretches nor shears.
function within(m, p) {
  const d = minus(p, [m[12], m[13], m[14]]);
  return [0, 1, 2].map((j) => d[0] * m[4 * j] + d[1] * m[4 * j + 1] + d[2] * m[4 * j + 2]);
}

function looking(eye, at, up) {
  const z = unit(minus(eye, at)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
}

function orthographic(half, depth) {
  return new Float32Array([1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1]);
}

const VERTEX = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
uniform mat4 model, camera, light;
out vec3 world;
out vec3 lit;
out vec2 at;
void main() {
  vec4 w = model * vec4(position, 1.0);
  world = w.xyz;
  lit = 0.5 + 0.5 * (light * w).xyz;
  at = uv;
  gl_Position = camera * w;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
in vec3 world;
in vec3 lit;
in vec2 at;
uniform vec4 colour;
uniform vec3 eye, sun, middle, tile_a, tile_b;
uniform float reach, shine;
uniform int kind;  // 0: one colour, 1: a picture, 2: the ground, 3: unlit
uniform sampler2D picture;
uniform sampler2DShadow shadow;
out vec4 pixel;
float sunlight() {
  if (any(lessThan(lit, vec3(0.0))) || any(greaterThan(lit, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  float texel = 1.0 / 2048.0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) sum += texture(shadow, vec3(lit.xy + texel * vec2(i, j), lit.z - 0.0015));
  return sum / 9.0;
}
void main() {
  if (kind == 3) { pixel = colour; return; }
  vec3 n = normalize(cross(dFdx(world), dFdy(world)));
  if (dot(n, eye - world) < 0.0) n = -n;
  vec3 base = colour.rgb;
  float alpha = colour.a;
  if (kind == 1) base = texture(picture, vec2(at.x, 1.0 - at.y)).rgb;
  if (kind == 2) {
    float blur = max(fwidth(at.x), fwidth(at.y));
    float check = mod(floor(at.x) + floor(at.y), 2.0);
    base = mix(tile_a, tile_b, mix(check, 0.5, smoothstep(0.2, 0.8, blur)));
    alpha = 1.0 - smoothstep(0.45 * reach, reach, distance(world, middle));
  }
  float straight = max(dot(n, sun), 0.0) * sunlight();
  vec3 around = mix(vec3(0.50, 0.50, 0.52), vec3(0.66, 0.68, 0.71), 0.5 + 0.5 * n.z);
  vec3 half_way = normalize(sun + normalize(eye - world));
  float gloss = shine * pow(max(dot(n, half_way), 0.0), 40.0) * straight;
  pixel = vec4(base * (around + 0.42 * straight * vec3(1.0, 0.98, 0.94)) + gloss, alpha);
}`;

const DEPTH_FRAGMENT = `#version 300 es
precision highp float;
void main() {}`;

const SKY_VERTEX = `#version 300 es
out float height;
void main() {
  vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  height = 0.5 + 0.5 * p.y;
  gl_Position = vec4(p, 0.9999, 1.0);
}`;

const SKY_FRAGMENT = `#version 300 es
precision highp float;
in float height;
uniform vec3 above, horizon;
out vec4 pixel;
void main() { pixel = vec4(mix(horizon, above, height), 1.0); }`;

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const names = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); ++i) {
    const { name } = gl.getActiveUniform(made, i);
    names[name] = gl.getUniformLocation(made, name);
  }
  return { made, names };
}

// A mesh on the card: vertices (3 n), faces (3 m), uv (2 n) or none.
function upload(gl, vertices, faces, uv) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  [[vertices, 3], [uv, 2]].forEach(([values, width], place) => {
    if (!values) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, width, gl.FLOAT, false, 0, 0);
  });
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  gl.bindVertexArray(null);
  return { array, count: faces.length, vertices, faces };
}

function paint(gl, pixels, width, height) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, width, height, 0, gl.RGB, gl.UNSIGNED_BYTE, pixels);
  gl.generateMipmap(gl.TEXTURE_2D);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  return texture;
}

// A surface about z through rings (radius, height), for arrows, cones and points.
function turned(gl, rings, sides = 20) {
  const vertices = [], faces = [];
  rings.forEach(([radius, height], r) => {
    for (let k = 0; k < sides; ++k) {
      const angle = 2 * Math.PI * k / sides, on = (k + 1) % sides;
      vertices.push(radius * Math.cos(angle), radius * Math.sin(angle), height);
      if (r) faces.push((r - 1) * sides + k, (r - 1) * sides + on, r * sides + on, (r - 1) * sides + k, r * sides + on, r * sides + k);
    }
  });
  return upload(gl, new Float32Array(vertices), new Uint32Array(faces), null);
}
