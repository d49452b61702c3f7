// Measures a page from inside, whichever program draws it. It is executed before all other scripts of the page.
//
// A picture is a callback of the browser's animation clock in which something is drawn by WebGL. `first` is the time at
// which the first picture that is not of one color was complete on the graphics card, so pixels are read until then.
// `scripts` and `messages` are the times of scripts for each picture, and for each message of a WebSocket before it.
// A click counts from its pointer event to the first draw call of a scene with a newer revision. All times are in ms.

(() => {
  const probe = window.probe = {
    first: null, ready: true, pictures: [], scripts: [], messages: [], latencies: [], clicked: null, before: 0, revision: 0,
  };
  let context = null;   // that has drawn in this callback

  /** Notes a draw call. */
  function noteDraw(gl) {
    context = gl;
    if (probe.clicked === null || probe.revision <= probe.before) return;
    probe.latencies.push(performance.now() - probe.clicked);
    probe.clicked = null;
  }

  /** Whether the middle of the picture has several colors; waits until the picture is complete. */
  function isPicture(gl) {
    const frame = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING), pack = gl.getParameter(gl.PIXEL_PACK_BUFFER_BINDING);
    const { width, height } = gl.canvas, wide = Math.max(width >> 1, 1), tall = Math.max(height >> 1, 1);
    const pixels = new Uint8Array(4 * wide * tall);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, null);
    gl.readPixels(width >> 2, height >> 2, wide, tall, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, frame);
    gl.bindBuffer(gl.PIXEL_PACK_BUFFER, pack);
    let low = 255, high = 0;
    for (let k = 0; k < pixels.length; k += 4) {
      low = Math.min(low, pixels[k]);
      high = Math.max(high, pixels[k]);
    }
    return high - low > 24;
  }

  for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced"]) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...given) {
      noteDraw(this);
      return draw.apply(this, given);
    };
  }

  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => request((now) => {
    const began = performance.now();
    context = null;
    callback(now);
    if (!context) return;
    probe.scripts.push(performance.now() - began);
    probe.pictures.push(began);
    if (probe.first === null && probe.ready && isPicture(context)) probe.first = performance.timeOrigin + performance.now();
  });

  const listen = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (kind, listener, ...more) {
    const timed = (event) => {
      const began = performance.now();
      listener.call(this, event);
      probe.messages.push(performance.now() - began);
    };
    return listen.call(this, kind, kind === "message" ? timed : listener, ...more);
  };

  /** Waits for the scene after the next click at the studio's grid. */
  probe.arm = () => {
    const { studio } = window.kinemorph;
    probe.off ??= studio.on("picture", (header) => { if (!header.run) probe.revision = header.revision; });
    probe.before = studio.state.revision;
    probe.clicked = null;
    probe.armed = true;
  };
  /** Whether the studio has read the model as it is now. */
  probe.isRead = () => window.kinemorph.studio.state.read_revision === window.kinemorph.studio.state.revision;
  /** Asks the studio's server. */
  probe.ask = (name, args) => window.kinemorph.studio.ask(name, args);
  window.addEventListener("pointerup", (event) => {
    if (!probe.armed) return;
    probe.armed = false;
    probe.clicked = event.timeStamp;
  }, { capture: true });
})();
