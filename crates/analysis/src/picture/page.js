(function () {
  var data = JSON.parse(document.getElementById("data").textContent), ROW = 17, TITLE = 20;
  var box = document.querySelector(".picture"), canvas = box.firstElementChild, strip = document.querySelector(".strip");
  var input = document.querySelector("input"), info = document.querySelector(".info"), found = document.querySelector(".found");
  var idle = info.textContent, pen = canvas.getContext("2d"), thin = strip.getContext("2d"), colours = [], ink = {};
  var bands = data.bands, chosen = null, over = null, hits = [], hit = -1, pattern = "", quiet = true, tall = 0, all = 0, deep = [];

  // a frame is its band and its number in it; rows have the numbers of their frames from the left on
  bands.forEach(function (band) {
    band.a = 0;
    band.b = data.length;
    band.first = all;
    all += band.x.length;
    band.rows = [];
    band.parent = [];
    band.mark = new Uint8Array(band.x.length);
    var path = [];
    for (var i = 0; i < band.x.length; i++) {
      var d = band.depth[i];
      (band.rows[d] = band.rows[d] || []).push(i);
      path[d] = i;
      band.parent.push(d ? path[d - 1] : -1);
    }
    band.top = tall + (bands.length > 1 ? TITLE : 0);
    tall = band.top + band.rows.length * ROW + 6;
  });
  function row(band, d) { return band.top + (band.up ? band.rows.length - 1 - d : d) * ROW; }
  function label(f) { return data.labels[f.band.label[f.i]]; }
  function ms(ns) { return (ns / 1e6).toFixed(3) + " ms"; }
  function more(ns) { return (ns < 0 ? "" : "+") + ms(ns); }
  function title(f) {
    var b = f.band, i = f.i, text = label(f) + "   " + ms(b.total[i]) + " (" + (100 * b.total[i] / (data.length || 1)).toFixed(2) + " %)";
    if (data.classes[b.class[i]] === "fold") return text;
    text += ", self " + ms(b.self[i]) + ", " + b.count[i] + " ×";
    var change = b.change && b.change[i];
    return change ? text + "   self " + more(change[0]) + ", total " + more(change[1]) : text;
  }
  function tell(f) { info.textContent = f ? title(f) : idle; }

  // colours are those of the style sheet, which knows light from dark
  function paint() {
    var svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "tm");
    document.body.appendChild(svg);
    colours = data.classes.map(function (name) {
      var rect = svg.appendChild(document.createElementNS(svg.namespaceURI, "rect"));
      rect.setAttribute("class", name);
      return getComputedStyle(rect).fill;
    });
    svg.remove();
    var style = getComputedStyle(document.documentElement);
    ["bg", "fg", "dim", "mark"].forEach(function (key) { ink[key] = style.getPropertyValue("--" + key); });
  }
  function fit(el, pen, height) {
    var dpr = window.devicePixelRatio || 1, w = el.clientWidth;
    if (el.width !== Math.round(w * dpr) || el.height !== Math.round(height * dpr)) {
      el.width = Math.round(w * dpr);
      el.height = Math.round(height * dpr);
    }
    el.style.height = height + "px";
    pen.setTransform(dpr, 0, 0, dpr, 0, 0);
    pen.clearRect(0, 0, w, height);
    return w;
  }
  // the first of a row that ends behind a place
  function from(band, list, place) {
    var low = 0, high = list.length;
    while (low < high) {
      var mid = (low + high) >> 1, i = list[mid];
      if (band.x[i] + band.width[i] <= place) low = mid + 1; else high = mid;
    }
    return low;
  }
  function draw() {
    box.style.height = tall + "px";
    var height = Math.min(tall, window.innerHeight), w = fit(canvas, pen, height);
    var off = Math.min(Math.max(0, -box.getBoundingClientRect().top), tall - height);
    pen.font = "11px ui-sans-serif,system-ui,sans-serif";
    pen.textBaseline = "middle";
    bands.forEach(function (band) {
      if (bands.length > 1) { pen.fillStyle = ink.dim; pen.fillText(band.title, 8, band.top - 9 - off); }
      var scale = w / ((band.b - band.a) || 1);
      band.rows.forEach(function (list, d) {
        var y = row(band, d) - off, done = -1;
        if (y < -ROW || y > height) return;
        for (var at = from(band, list, band.a); at < list.length && band.x[list[at]] < band.b; at++) {
          var i = list[at], x = Math.max(0, (band.x[i] - band.a) * scale), end = Math.min(w, (band.x[i] + band.width[i] - band.a) * scale);
          var is = chosen && chosen.band === band && chosen.i === i || over && over.band === band && over.i === i;
          // what lies within a pixel that has a frame cannot be seen
          if (end - done < 0.5 && !is && !band.mark[i]) continue;
          done = end;
          pen.fillStyle = band.mark[i] ? ink.mark : colours[band.class[i]];
          pen.fillRect(x, y, Math.max(end - x - (end - x > 2 ? 0.5 : 0), 0.5), ROW - 1);
          if (is) { pen.strokeStyle = ink.fg; pen.strokeRect(x + 0.5, y + 0.5, Math.max(end - x - 1, 1), ROW - 2); }
          if (end - x < 18) continue;
          var text = data.labels[band.label[i]], room = end - x - 6, long = pen.measureText(text).width;
          if (long > room) text = text.slice(0, Math.floor(text.length * room / long));
          while (text && pen.measureText(text).width > room) text = text.slice(0, -1);
          pen.fillStyle = band.mark[i] ? "#fff" : ink.fg;
          pen.fillText(text, x + 3, y + ROW / 2);
        }
      });
    });
    drawStrip();
  }
  // how deep frames stand at each pixel of the whole width: worked out once a width
  function depths(w) {
    if (deep.length === w) return;
    deep = new Uint16Array(w);
    bands.forEach(function (band) {
      band.rows.forEach(function (list, d) {
        list.forEach(function (i) {
          var x = Math.floor(band.x[i] * w / (data.length || 1)), end = Math.ceil((band.x[i] + band.width[i]) * w / (data.length || 1));
          for (end = Math.min(w, end); x < end; x++) deep[x] = Math.max(deep[x], d + 1);
        });
      });
    });
  }
  // and which part of it is shown
  function drawStrip() {
    var w = fit(strip, thin, 40), moved = bands.filter(isMoved)[0];
    var most = bands.reduce(function (most, band) { return Math.max(most, band.rows.length); }, 1);
    depths(w);
    thin.fillStyle = ink.dim;
    for (var x = 0; x < w; x++) { var h = 36 * deep[x] / most; thin.fillRect(x, 40 - h, 1, h); }
    if (!moved) return;
    var a = moved.a * w / data.length, b = moved.b * w / data.length;
    thin.fillStyle = ink.mark;
    thin.globalAlpha = 0.25;
    thin.fillRect(a, 0, Math.max(b - a, 2), 40);
    thin.globalAlpha = 1;
  }
  function isMoved(band) { return band.a !== 0 || band.b !== data.length; }

  function at(e) {
    var place = canvas.getBoundingClientRect(), off = Math.min(Math.max(0, -box.getBoundingClientRect().top), tall - place.height);
    var y = e.clientY - place.top + off, x = (e.clientX - place.left) / place.width;
    for (var n = 0; n < bands.length; n++) {
      var band = bands[n], r = Math.floor((y - band.top) / ROW);
      if (r < 0 || r >= band.rows.length) continue;
      var list = band.rows[band.up ? band.rows.length - 1 - r : r], ns = band.a + x * (band.b - band.a), k = from(band, list, ns);
      if (k < list.length && band.x[list[k]] <= ns) return { band: band, i: list[k] };
    }
    return null;
  }
  function choose(f) {
    chosen = f;
    tell(f);
    if (f) {
      var y = box.getBoundingClientRect().top + row(f.band, f.band.depth[f.i]);
      if (y < 0 || y > window.innerHeight - ROW) window.scrollBy(0, y - window.innerHeight / 2);
    }
    draw();
    remember();
  }
  function range(band, a, b) {
    bands.forEach(function (o) { if (o === band || band.timed && o.timed) { o.a = a; o.b = b; } });
    draw();
    remember();
  }
  function zoom(f) { if (f.band.width[f.i] > 0) range(f.band, f.band.x[f.i], f.band.x[f.i] + f.band.width[f.i]); }
  function reset() {
    bands.forEach(function (o) { o.a = 0; o.b = data.length; });
    input.value = "";
    search("");
    choose(null);
  }
  function search(text) {
    var test = null;
    try { test = text ? new RegExp(text, "i") : null; } catch (e) { found.textContent = "not an expression: " + e.message; return; }
    pattern = text;
    hits = [];
    hit = -1;
    var sum = 0, is = data.labels.map(function (own) { return !!test && test.test(own); });
    bands.forEach(function (band) {
      var within = new Uint8Array(band.x.length);
      for (var i = 0; i < band.x.length; i++) {
        var up = band.parent[i];
        band.mark[i] = is[band.label[i]] ? 1 : 0;
        within[i] = up >= 0 && (band.mark[up] || within[up]) ? 1 : 0;
        if (!band.mark[i]) continue;
        hits.push({ band: band, i: i });
        if (!within[i]) sum += band.width[i];
      }
    });
    found.textContent = test ? hits.length + " found, " + (100 * sum / (data.length || 1)).toFixed(1) + " %" : "";
    draw();
    remember();
  }
  function next(step) {
    if (!hits.length) return;
    hit = (hit + step + hits.length) % hits.length;
    choose(hits[hit]);
  }
  function shown(band, i) { return band.x[i] < band.b && band.x[i] + band.width[i] > band.a; }
  function beside(f, step) {
    var list = f.band.rows[f.band.depth[f.i]], i = list[list.indexOf(f.i) + step];
    return i !== undefined && shown(f.band, i) ? { band: f.band, i: i } : f;
  }
  function inward(f) {
    var list = f.band.rows[f.band.depth[f.i] + 1] || [], i = list.find(function (o) { return f.band.parent[o] === f.i && shown(f.band, o); });
    return i === undefined ? f : { band: f.band, i: i };
  }
  function outward(f) { var up = f.band.parent[f.i]; return up < 0 ? f : { band: f.band, i: up }; }

  function remember() {
    if (quiet) return;
    var parts = [], moved = bands.findIndex(isMoved);
    if (chosen) parts.push("f=" + (chosen.band.first + chosen.i));
    if (moved >= 0) parts.push("z=" + moved + "," + bands[moved].a + "," + bands[moved].b);
    if (pattern) parts.push("s=" + encodeURIComponent(pattern));
    try { history.replaceState(null, "", "#" + parts.join("&")); } catch (e) { /* pages without an address keep none */ }
  }
  function recall() {
    location.hash.slice(1).split("&").forEach(function (part) {
      var value = part.slice(2), numbers = value.split(",").map(Number);
      if (part[0] === "s") { input.value = decodeURIComponent(value); search(input.value); }
      if (part[0] === "z" && bands[numbers[0]] && numbers[2] > numbers[1]) range(bands[numbers[0]], numbers[1], numbers[2]);
      var band = bands.find(function (o) { return numbers[0] >= o.first && numbers[0] < o.first + o.x.length; });
      if (part[0] === "f" && band) choose({ band: band, i: numbers[0] - band.first });
    });
  }
  canvas.addEventListener("mousemove", function (e) { over = at(e); tell(over || chosen); draw(); });
  canvas.addEventListener("mouseleave", function () { over = null; tell(chosen); draw(); });
  canvas.addEventListener("click", function (e) { var f = at(e); if (f) { choose(f); zoom(f); } });
  var begin = null;
  strip.addEventListener("mousedown", function (e) { begin = e.offsetX; });
  window.addEventListener("mouseup", function (e) {
    if (begin === null) return;
    var w = strip.clientWidth, end = e.clientX - strip.getBoundingClientRect().left, ends = [begin, end].sort(function (a, b) { return a - b; });
    begin = null;
    var places = ends.map(function (x) { return Math.round(Math.min(Math.max(x / w, 0), 1) * data.length); });
    if (ends[1] - ends[0] > 2) bands.forEach(function (band) { range(band, places[0], places[1]); });
  });
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { input.blur(); reset(); return; }
    if (e.target === input) return;
    if (e.ctrlKey && e.key === "f" || e.key === "/") { e.preventDefault(); input.focus(); return; }
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    var f = chosen || (bands[0] && bands[0].x.length ? { band: bands[0], i: 0 } : null), go = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!f) return;
    if (go) choose(chosen ? beside(f, go) : f);
    else if (e.key === (data.up ? "ArrowUp" : "ArrowDown")) choose(chosen ? inward(f) : f);
    else if (e.key === (data.up ? "ArrowDown" : "ArrowUp")) choose(outward(f));
    else if (e.key === "Enter") zoom(f);
    else if (e.key === "n") next(1);
    else if (e.key === "N") next(-1);
    else return;
    e.preventDefault();
  });
  document.querySelector("button").addEventListener("click", reset);
  input.addEventListener("input", function () { search(input.value); });
  document.querySelectorAll("td a").forEach(function (a) {
    a.addEventListener("click", function () {
      input.value = "^" + a.textContent.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "( |$)";
      search(input.value);
      window.scrollTo(0, 0);
    });
  });
  window.addEventListener("resize", draw);
  window.addEventListener("scroll", draw);
  window.addEventListener("hashchange", recall);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { paint(); draw(); });
  paint();
  draw();
  recall();
  quiet = false;
})();
