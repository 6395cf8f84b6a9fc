(function () {
  var root = document.getElementById("tracemill");
  var info = root.querySelector(".info"), found = root.querySelector(".found"), idle = info.textContent;
  var bands = [], all = [], chosen = null, pattern = "", hit = -1, hits = [];
  root.querySelectorAll("g.band").forEach(function (g) {
    var band = { a: 0, b: 100, timed: g.classList.contains("timed"), frames: [] }, path = [];
    for (var el = g.firstElementChild; el; el = el.nextElementSibling) {
      var f = { el: el, x: parseFloat(el.getAttribute("x")), w: parseFloat(el.getAttribute("width")), d: +el.getAttribute("data-d"),
        n: all.length, band: band, kids: [], t: el.getAttribute("data-t"), text: el.childElementCount > 2 ? el.lastElementChild : null };
      path.length = f.d;
      f.up = path[f.d - 1] || null;
      if (f.up) f.up.kids.push(f);
      path[f.d] = f;
      band.frames.push(f);
      all.push(f);
      el.n = f.n;
    }
    bands.push(band);
  });
  function frame(e) { var el = e.target.closest(".f"); return el ? all[el.n] : null; }
  root.addEventListener("click", function (e) { var f = frame(e); if (f) { choose(f); zoom(f); } });
  root.addEventListener("mouseover", function (e) {
    var f = frame(e);
    if (f && !f.el.firstElementChild) f.el.appendChild(make("title", {})).textContent = f.t;
    tell(f || chosen);
  });
  function make(name, values) {
    var el = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(values).forEach(function (key) { el.setAttribute(key, values[key]); });
    return el;
  }
  function title(f) { return f.t || f.el.firstElementChild.textContent; }
  function widen(f) {
    var el = make("svg", { "class": f.el.getAttribute("class"), y: f.el.getAttribute("y"), height: f.el.getAttribute("height") });
    el.appendChild(make("title", {})).textContent = f.t;
    el.appendChild(make("rect", { width: "100%", height: "100%" }));
    f.el.replaceWith(el);
    el.n = f.n;
    f.el = el;
  }
  function tell(f) { info.textContent = f ? title(f).replace(/\n/g, "   ") : idle; }
  function choose(f) {
    if (chosen) chosen.el.classList.remove("s");
    chosen = f;
    if (f) { f.el.classList.add("s"); f.el.scrollIntoView({ block: "nearest" }); }
    tell(f);
    remember();
  }
  var pen = window.OffscreenCanvas && new OffscreenCanvas(1, 1).getContext("2d");
  if (pen) pen.font = "11px " + getComputedStyle(root).fontFamily;
  function cut(text, px) {
    if (!pen || pen.measureText(text).width <= px) return text;
    var low = 0, high = text.length;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (pen.measureText(text.slice(0, middle) + "\u2026").width <= px) low = middle; else high = middle - 1;
    }
    return text.slice(0, low) + "\u2026";
  }
  function label(f, px) {
    if (px < 18) { if (f.text) f.text.style.display = "none"; return; }
    if (!f.text) {
      if (f.el.tagName === "rect") widen(f);
      f.text = f.el.appendChild(make("text", { x: 3, y: 12 }));
      f.el.classList.add("w");
    }
    f.text.textContent = cut(title(f).split("\n")[0], px - 5);
    f.text.style.display = "";
  }
  function draw(band) {
    var scale = 100 / (band.b - band.a), px = root.getBoundingClientRect().width / 100;
    band.frames.forEach(function (f) {
      var from = Math.max(f.x, band.a), to = Math.min(f.x + f.w, band.b), w = (to - from) * scale;
      var shown = w * px > 0.05;
      f.el.style.display = shown ? "" : "none";
      if (!shown) return;
      label(f, w * px);
      f.el.setAttribute("x", (from - band.a) * scale + "%");
      f.el.setAttribute("width", w + "%");
    });
  }
  function range(band, a, b) {
    var same = band.timed ? bands.filter(function (o) { return o.timed; }) : [band];
    same.forEach(function (o) { o.a = a; o.b = b; draw(o); });
  }
  function zoom(f) { if (f.w > 0) range(f.band, f.x, f.x + f.w); remember(); }
  function reset() { bands.forEach(function (o) { o.a = 0; o.b = 100; draw(o); }); remember(); }
  function search(text) {
    var test = null;
    try { test = text ? new RegExp(text, "i") : null; } catch (e) { found.textContent = "not an expression: " + e.message; return; }
    pattern = text;
    hits = [];
    hit = -1;
    var sum = 0;
    all.forEach(function (f) {
      f.m = !!test && test.test(title(f).split("\n")[0]);
      f.within = f.up ? f.up.m || f.up.within : false;
      f.el.classList.toggle("m", f.m);
      if (f.m) hits.push(f);
      if (f.m && !f.within) sum += f.w;
    });
    found.textContent = test ? hits.length + " found, " + sum.toFixed(1) + " %" : "";
    remember();
  }
  function next(step) {
    if (!hits.length) return;
    hit = (hit + step + hits.length) % hits.length;
    choose(hits[hit]);
  }
  function beside(f, step) {
    var row = f.band.frames.filter(function (o) { return o.d === f.d && o.el.style.display !== "none"; });
    return row[row.indexOf(f) + step] || f;
  }
  var quiet = true;
  function remember() {
    if (quiet) return;
    var parts = [];
    if (chosen) parts.push("f=" + chosen.n);
    var moved = bands.findIndex(function (o) { return o.a !== 0 || o.b !== 100; });
    if (moved >= 0) parts.push("z=" + moved + "," + bands[moved].a.toFixed(4) + "," + bands[moved].b.toFixed(4));
    if (pattern) parts.push("s=" + encodeURIComponent(pattern));
    try { history.replaceState(null, "", "#" + parts.join("&")); } catch (e) { /* pages without an address keep none */ }
  }
  function recall() {
    location.hash.slice(1).split("&").forEach(function (part) {
      var value = part.slice(2), range3 = value.split(",").map(Number);
      if (part[0] === "s") search(decodeURIComponent(value));
      if (part[0] === "z" && bands[range3[0]] && range3[2] > range3[1]) range(bands[range3[0]], range3[1], range3[2]);
      if (part[0] === "f" && all[+value]) choose(all[+value]);
    });
  }
  function ask() {
    var text = prompt("Search names (regular expression)", pattern);
    if (text !== null) search(text);
  }
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey && e.key === "f" || e.key === "/") { if (e.target.tagName !== "INPUT") { e.preventDefault(); ask(); } return; }
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === "INPUT") return;
    var f = chosen || all[0], go = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    var inward = f && f.kids.filter(function (o) { return o.el.style.display !== "none"; })[0];
    if (go && f) choose(chosen ? beside(f, go) : f);
    else if (e.key === (root.dataset.up ? "ArrowUp" : "ArrowDown")) choose(chosen ? inward || f : f);
    else if (e.key === (root.dataset.up ? "ArrowDown" : "ArrowUp")) choose(f && f.up || f);
    else if (e.key === "Enter" && f) zoom(f);
    else if (e.key === "Escape") { reset(); choose(null); search(""); }
    else if (e.key === "n") next(1);
    else if (e.key === "N") next(-1);
    else return;
    e.preventDefault();
  });
  root.querySelector(".reset").addEventListener("click", function () { reset(); choose(null); search(""); });
  root.querySelector(".search").addEventListener("click", ask);
  window.addEventListener("resize", function () { bands.forEach(draw); });
  window.addEventListener("hashchange", recall);
  window.tracemillSearch = search;
  // labels are cut for a usual screen
  var unit = root.getBoundingClientRect().width / 100;
  all.forEach(function (f) {
    if (!f.text && f.w * unit < 18) return;
    label(f, f.w * unit);
    f.el.setAttribute("x", f.x + "%");
    f.el.setAttribute("width", f.w + "%");
  });
  recall();
  quiet = false;
})();
