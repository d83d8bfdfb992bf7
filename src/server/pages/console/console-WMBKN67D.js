import {
  actionCode,
  base64url,
  bytesToHex,
  canonicalize,
  preAuthEncoding,
  randomBytes,
  requestHash,
  sha256,
  shownOf,
  toBase64,
  utf8ToBytes
} from "./chunk-2O6NKBQB.js";

// node_modules/preact/dist/preact.mjs
var n;
var t;
var r;
var u;
var i;
var f;
var o;
var e;
var l;
var c;
var a;
var s;
var h = /* @__PURE__ */ Symbol.for("pv");
var p = {};
var y = [];
var v = /^m(i|n|o|s|text|space)$/;
var w = Array.isArray;
var d = y.slice;
var _ = Object.assign;
function g(n2) {
  n2 && n2.parentNode && n2.remove();
}
function m(r3, u3, i3, f4, o4) {
  var e3 = { type: r3, props: u3, key: i3, ref: f4, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o4 || ++t, __i: -1, __u: 0 };
  return !o4 && n.vnode && n.vnode(e3), e3;
}
function $(n2) {
  return n2.children;
}
function x(n2, t3) {
  this.props = n2, this.context = t3, this.__g = 0;
}
function S(n2, t3) {
  if (null == t3) return n2.__ && S(n2.__, n2.__i + 1);
  for (var r3; t3 < n2.__k.length; t3++) if ((r3 = n2.__k[t3]) && r3.__e) return r3.__e;
  return "function" != typeof n2.type || n2.props.__P ? null : S(n2);
}
function C(t3) {
  var r3, u3 = t3.__v, i3 = u3.__e, f4 = [], o4 = [], e3 = t3.__P;
  e3 && ((r3 = _({ constructor: h }, u3)).__v = u3.__v + 1, n.vnode && n.vnode(r3), z(e3, r3, u3, t3.__n, e3.namespaceURI, 32 & u3.__u ? [i3] : null, f4, i3 || S(u3), 32 & u3.__u, o4), r3.__v = u3.__v, r3.__.__k[r3.__i] = r3, E(f4, r3, o4), u3.__ = u3.__e = null, r3.__e != i3 && j(r3));
}
function j(n2) {
  if ((n2 = n2.__) && n2.__c && !n2.props.__P) return n2.__e = null, n2.__k.some(function(t3) {
    return t3 && (n2.__e = t3.__e);
  }), j(n2);
}
function L(t3) {
  (8 & t3.__g || (t3.__g |= 8, u.push(t3), f++)) && i == n.debounceRendering || ((i = n.debounceRendering) || queueMicrotask)(H);
}
function H() {
  try {
    for (var n2, t3 = 1; u.length; ) u.length > t3 && u.sort(o), n2 = u.shift(), t3 = u.length, 8 & n2.__g && C(n2);
  } finally {
    (f = u.length) && (i || queueMicrotask)(H);
  }
}
function I(n2, t3, r3, u3, i3, f4, o4, e3, l3, c3, a4) {
  var s3, h3, v3, w3, d3, _3, g3 = u3.__k || y, k2 = t3.length;
  for (l3 = q(r3, t3, g3, l3, k2), s3 = 0; s3 < k2; s3++) null != (v3 = r3.__k[s3]) && (h3 = ~v3.__i && g3[v3.__i] || p, v3.__i = s3, _3 = z(n2, v3, h3, i3, f4, o4, e3, l3, c3, a4), w3 = v3.__e, (h3.ref != v3.ref || 8 & h3.__u) && (h3.ref && G(h3.ref, null, v3, h3), v3.ref && a4.push(v3.ref, v3.__c || w3, v3)), d3 = d3 || w3, 4 & v3.__u ? (l3 = A(v3, l3, n2, !h3.__v), h3.__e && (h3.__e = null)) : "function" == typeof v3.type && void 0 !== _3 ? l3 = _3 : w3 && (l3 = w3.nextSibling), v3.__u &= -21);
  return r3.__e = d3, l3;
}
function q(n2, t3, r3, u3, i3) {
  var f4, o4, e3, l3, c3, a4, s3, p3, y3, v3 = r3.length, d3 = v3, _3 = 0, g3 = 0, k2 = n2.__k = Array(i3);
  for (f4 = 0; f4 < i3; f4++) null != (o4 = t3[f4]) && "boolean" != typeof o4 && "function" != typeof o4 ? ("object" != typeof o4 || o4.constructor === String ? o4 = k2[f4] = m(null, o4) : w(o4) ? o4 = k2[f4] = m($, { children: o4 }) : o4.constructor === h && o4.__b ? o4 = k2[f4] = m(o4.type, o4.props, o4.key, o4.ref, o4.__v) : k2[f4] = o4, l3 = f4 + _3, o4.__ = n2, o4.__b = n2.__b + 1, e3 = null, ~(c3 = o4.__i = P(o4, r3, l3, d3)) && (d3--, (e3 = r3[c3]) && (e3.__u |= 2)), e3 && e3.__v ? (o4.__u |= 16, c3 == l3 - 1 ? _3-- : c3 == l3 + 1 ? _3++ : c3 != l3 && (c3 > l3 ? _3-- : _3++, g3 = 1)) : (~c3 || (i3 > v3 ? _3-- : i3 < v3 && _3++), "function" != typeof o4.type && (o4.__u |= 4))) : k2[f4] = null;
  if (g3) {
    for (a4 = [], s3 = [], f4 = 0; f4 < i3; f4++) if ((o4 = k2[f4]) && 16 & o4.__u) {
      for (_3 = 0, p3 = a4.length; _3 < p3; ) a4[y3 = _3 + p3 >> 1] < o4.__i ? _3 = y3 + 1 : p3 = y3;
      a4[_3] = o4.__i, s3[f4] = _3 + 1;
    }
    for (_3 = a4.length; f4--; ) s3[f4] && (s3[f4] == _3 ? _3-- : k2[f4].__u |= 4);
  }
  if (d3) for (f4 = 0; f4 < v3; f4++) !(e3 = r3[f4]) || 2 & e3.__u || (e3.__e == u3 && (u3 = S(e3)), J(e3, e3));
  return u3;
}
function A(n2, t3, r3, u3) {
  var i3, f4, o4, e3;
  if ("function" == typeof n2.type) {
    if (n2.props.__P) return t3;
    if (i3 = n2.__k) for (f4 = 0; f4 < i3.length; f4++) i3[f4] && (i3[f4].__ = n2, t3 = A(i3[f4], t3, r3, false));
    return t3;
  }
  for (t3 && !t3.parentNode && (t3 = S(n2)) && !t3.parentNode && (t3 = null), o4 = n2.__e, e3 = t3; e3 && 8 == e3.nodeType; ) e3 = e3.nextSibling;
  for (o4 != e3 && (!u3 && r3.moveBefore && o4.parentNode ? r3.moveBefore(o4, t3) : r3.insertBefore(o4, t3 || null)), t3 = o4; (t3 = t3 && t3.nextSibling) && 8 == t3.nodeType && !t3.data.startsWith("$s"); ) ;
  return t3;
}
function P(n2, t3, r3, u3) {
  var i3, f4 = n2.key, o4 = n2.type, e3 = t3[r3], l3 = e3 && !(2 & e3.__u);
  if (null === e3 && null == f4 || l3 && f4 == e3.key && o4 == e3.type) return r3;
  if (u3 > (l3 ? 1 : 0)) {
    for (i3 = r3 - 1; i3 >= 0; i3--) if ((e3 = t3[i3]) && !(2 & e3.__u) && f4 == e3.key && o4 == e3.type) return i3;
    for (i3 = r3 + 1; i3 < t3.length; i3++) if ((e3 = t3[i3]) && !(2 & e3.__u) && f4 == e3.key && o4 == e3.type) return i3;
  }
  return -1;
}
function T(n2, t3, r3) {
  null == r3 && (r3 = ""), "-" == t3[0] ? n2.setProperty(t3, r3) : n2[t3] = r3;
}
function N(n2, t3, r3, u3, i3) {
  var f4, o4;
  if ("style" == t3) if ("string" == typeof r3) n2.style.cssText = r3;
  else {
    if ("string" == typeof u3 && (n2.style.cssText = u3 = ""), u3) for (t3 in u3) r3 && t3 in r3 || T(n2.style, t3);
    if (r3) for (t3 in r3) u3 && r3[t3] == u3[t3] || T(n2.style, t3, r3[t3]);
  }
  else if ("o" == t3[0] && "n" == t3[1]) "function" != typeof r3 && (r3 = null), "function" != typeof u3 && (u3 = null), (n2.__e || (n2.__e = {}))[t3] = r3, r3 && u3 || (o4 = a[t3] || (a[t3] = V(t3)), (n2.__a || (n2.__a = {}))[t3] = c, f4 = t3 != (t3 = t3.replace(l, "$1")), (t3 = t3.slice(2))[0] < "a" && (t3 = t3.toLowerCase()), r3 ? n2.addEventListener(t3, o4, f4) : n2.removeEventListener(t3, o4, f4));
  else {
    if ("http://www.w3.org/2000/svg" == i3) t3 = t3.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if ("width" != t3 && "height" != t3 && "href" != t3 && "list" != t3 && "form" != t3 && "tabIndex" != t3 && "download" != t3 && "rowSpan" != t3 && "colSpan" != t3 && "role" != t3 && "popover" != t3 && t3 in n2) try {
      return void (n2[t3] = null == r3 ? "" : r3);
    } catch (n3) {
    }
    if ("function" == typeof r3) return;
    null == r3 || false === r3 && "-" != t3[4] ? n2.removeAttribute(t3) : n2.setAttribute(t3, "popover" == t3 && 1 == r3 ? "" : r3);
  }
}
function V(t3) {
  return function(r3) {
    var u3 = this.__e;
    if (u3) {
      if (u3 = u3[t3], null == r3[e]) r3[e] = c++;
      else if (r3[e] < this.__a[t3]) return;
      return u3(n.event ? n.event(r3) : r3);
    }
  };
}
function z(t3, r3, u3, i3, f4, o4, e3, l3, c3, a4) {
  var s3, p3, v3, d3, k2, b, m3, M, C3, j2, L2, H2, q2, A3, O, P2, T3, N2, V2 = r3.type;
  if (r3.constructor !== h) return null;
  128 & u3.__u && (c3 = 32 & u3.__u, s3 = u3.__c.__z) && (r3.__u |= c3, p3 = o4 = [], 8 == s3.nodeType ? l3 = B(s3, o4) : o4.push(s3), l3 = o4[0] || l3), (s3 = n.__b) && s3(r3);
  n: if ("function" == typeof V2) {
    v3 = e3.length;
    try {
      if (M = r3.props, C3 = (s3 = V2.prototype) && s3.render, j2 = (s3 = V2.contextType) && i3[s3.__c], L2 = s3 ? j2 ? j2.props.value : s3.__ : i3, (d3 = u3.__c) ? (r3.__c = d3, 2 & d3.__g && (d3.__g |= 1)) : (C3 ? r3.__c = d3 = new V2(M, L2) : (r3.__c = d3 = new x(M, L2), d3.constructor = V2, d3.render = K), j2 && j2.sub(d3), d3.state || (d3.state = {}), d3.__n = i3, d3.__g |= 8, d3.__h = [], d3.__k = []), C3 && (d3.__s || (d3.__s = d3.state), V2.getDerivedStateFromProps && (d3.__s == d3.state && (d3.__s = _({}, d3.__s)), _(d3.__s, V2.getDerivedStateFromProps(M, d3.__s)))), k2 = d3.props, b = d3.state, d3.__v = r3, u3.__c) {
        if (M !== k2 && C3 && !V2.getDerivedStateFromProps && d3.componentWillReceiveProps && d3.componentWillReceiveProps(M, L2), r3.__v == u3.__v && !(8 & d3.__g) || !(4 & d3.__g) && d3.shouldComponentUpdate && false === d3.shouldComponentUpdate(M, d3.__s, L2)) {
          r3.__v != u3.__v && (d3.props = M, d3.state = d3.__s, d3.__g &= -9), r3.__e = u3.__e, r3.__k = u3.__k, r3.__k.some(function(n2) {
            n2 && (n2.__ = r3);
          }), y.push.apply(d3.__h, d3.__k), d3.__k = [], d3.__h.length && e3.push(d3), l3 = S(u3);
          break n;
        }
        d3.componentWillUpdate && d3.componentWillUpdate(M, d3.__s, L2), C3 && d3.componentDidUpdate && d3.__h.push(function() {
          d3.componentDidUpdate(k2, b, m3);
        });
      } else C3 && !V2.getDerivedStateFromProps && d3.componentWillMount && d3.componentWillMount(), C3 && d3.componentDidMount && d3.__h.push(d3.componentDidMount);
      d3.context = L2, d3.props = M, d3.__P = t3, d3.__g &= -5, H2 = n.__r, q2 = C3 ? 25 : 0;
      do {
        d3.__g &= -9, H2 && H2(r3), s3 = d3.render(d3.props, d3.state = d3.__s, d3.context);
      } while (8 & d3.__g && ++q2 < 25);
      C3 && (y.push.apply(d3.__h, d3.__k), d3.__k = []), d3.state = d3.__s, d3.getChildContext && (i3 = _({}, i3, d3.getChildContext())), C3 && u3.__c && d3.getSnapshotBeforeUpdate && (m3 = d3.getSnapshotBeforeUpdate(k2, b)), A3 = s3 && s3.type === $ && null == s3.key ? s3.props.children : s3, M.__P && (s3 = l3, f4 = (t3 = M.__P).namespaceURI, c3 = o4 = null, u3.props && u3.props.__P != t3 && (u3.__k.some(function(n2) {
        n2 && J(n2, n2);
      }), u3.__k = null), l3 = u3.__k ? S(u3, 0) : null), l3 = I(t3, w(A3) ? A3 : [A3], r3, u3, i3, f4, o4, e3, l3, c3, a4), M.__P && (r3.__e = null, l3 = s3), r3.__u &= -161, p3 && p3.some(g), d3.__h.length && e3.push(d3), 1 & d3.__g && (d3.__g &= -4);
    } catch (t4) {
      if (e3.length = v3, r3.__v = null, c3 || o4) if (t4 && t4.then) {
        if (r3.__u |= 128 | c3, o4) {
          for (~(T3 = o4.indexOf(l3 || void 0)) || (T3 = o4.length); (N2 = o4[T3 - 1]) && 8 == N2.nodeType; ) T3--;
          for (; T3 < o4.length; T3++) if (N2 = o4[T3]) if (o4[T3] = null, O) {
            if (N2 == P2) break;
          } else {
            if (8 != N2.nodeType) break;
            N2.data.startsWith("$s") && (P2 = B(O = N2));
          }
        }
        if (!O) {
          for (; l3 && 8 == l3.nodeType && l3.nextSibling; ) l3 = l3.nextSibling;
          O = l3;
        }
        (s3 = B(O = r3.__c.__z || (r3.__c.__z = O))) ? (r3.__e = O, l3 = s3) : r3.__e = l3, l3 = l3 && l3.nextSibling;
      } else o4 && o4.some(g);
      else r3.__e = u3.__e;
      r3.__k || (r3.__k = u3.__k || []), t4 && t4.then || D(r3), n.__e(t4, r3, u3);
    }
  } else l3 = r3.__e = F(u3.__e, r3, u3, i3, f4, o4, e3, c3, a4, t3);
  return (s3 = n.diffed) && s3(r3), l3;
}
function B(n2, t3) {
  if (n2 && 8 == n2.nodeType && n2.data.startsWith("$s")) for (var r3 = 1; n2 = n2.nextSibling; ) {
    if (8 == n2.nodeType) {
      if (n2.data.startsWith("$s")) r3++;
      else if (n2.data.startsWith("/$s") && !--r3) return n2;
    }
    t3 && t3.push(n2);
  }
}
function D(n2) {
  n2 && (n2.__c && (n2.__c.__g |= 4), n2.__k && n2.__k.some(D));
}
function E(t3, r3, u3) {
  for (var i3 = 0; i3 < u3.length; ) G(u3[i3++], u3[i3++], u3[i3++]);
  n.__c && n.__c(r3, t3), t3.some(function(r4) {
    try {
      t3 = r4.__h, r4.__h = [], t3.some(function(n2) {
        n2.call(r4);
      });
    } catch (t4) {
      n.__e(t4, r4.__v);
    }
  });
}
function F(t3, r3, u3, i3, f4, o4, e3, l3, c3, a4) {
  var s3, h3, y3, _3, k2, b, m3, M, $2 = u3.props || p, x2 = r3.props, C3 = r3.type;
  if ("svg" == C3 ? f4 = "http://www.w3.org/2000/svg" : "math" == C3 ? f4 = "http://www.w3.org/1998/Math/MathML" : f4 || (f4 = "http://www.w3.org/1999/xhtml"), o4) {
    for (s3 = 0; s3 < o4.length; s3++) if ((k2 = o4[s3]) && (C3 ? k2.localName == C3 : 3 == k2.nodeType)) {
      t3 = k2, o4[s3] = null;
      break;
    }
  }
  if (!t3) {
    if (M = a4.ownerDocument || document, !C3) return M.createTextNode(x2);
    t3 = M.createElementNS(f4, C3, x2.is ? x2 : a4), l3 && (n.__m && n.__m(r3, o4), l3 = false), o4 = null;
  }
  if (C3) {
    if (a4 = "template" == C3 && t3.content || t3, o4 = "textarea" == C3 && null != x2.defaultValue ? null : o4 && d.call(a4.childNodes), !l3 && o4) for ($2 = {}, s3 = 0; s3 < t3.attributes.length; s3++) $2[(k2 = t3.attributes[s3]).name] = k2.value;
    for (s3 in $2) k2 = $2[s3], "dangerouslySetInnerHTML" == s3 ? y3 = k2 : "children" == s3 || s3 in x2 || "value" == s3 && "defaultValue" in x2 || "checked" == s3 && "defaultChecked" in x2 || N(t3, s3, null, k2, f4);
    for (s3 in x2) k2 = x2[s3], "children" == s3 ? _3 = k2 : "dangerouslySetInnerHTML" == s3 ? h3 = k2 : "value" == s3 ? b = k2 : "checked" == s3 ? m3 = k2 : l3 && "function" != typeof k2 || $2[s3] === k2 || N(t3, s3, k2, $2[s3], f4);
    h3 ? (l3 || y3 && (h3.__html == y3.__html || h3.__html == t3.innerHTML) || (t3.innerHTML = h3.__html), r3.__k = []) : (y3 && (t3.textContent = ""), ("foreignObject" == C3 || "http://www.w3.org/1998/Math/MathML" == f4 && v.test(C3)) && (f4 = "http://www.w3.org/1999/xhtml"), I(a4, w(_3) ? _3 : [_3], r3, u3, i3, f4, o4, e3, o4 ? o4[0] : u3.__k && S(u3, 0), l3, c3), o4 && o4.some(g)), l3 && "textarea" != C3 || (s3 = "value", "progress" == C3 && null == b ? t3.removeAttribute(s3) : null == b || b === t3[s3] && ("progress" != C3 || b) || N(t3, s3, b, $2[s3], f4), s3 = "checked", null != m3 && m3 != t3[s3] && N(t3, s3, m3, $2[s3], f4));
  } else $2 === x2 || l3 && t3.data == x2 || (t3.data = x2);
  return t3;
}
function G(t3, r3, u3, i3) {
  try {
    "function" == typeof t3 ? r3 ? r3.__x = t3(r3) || 1 : i3 && (i3 = i3.__c || i3.__e) && (r3 = i3.__x) && (i3.__x = null, "function" == typeof r3 ? r3() : t3(null)) : t3.current = r3;
  } catch (t4) {
    n.__e(t4, u3);
  }
}
function J(t3, r3, u3) {
  var i3, f4, o4, e3;
  if (n.unmount && n.unmount(t3), !(i3 = t3.ref) || i3.current && i3.current != t3.__e || G(i3, null, r3, t3), i3 = t3.__c) {
    if (i3.componentWillUnmount) try {
      i3.componentWillUnmount();
    } catch (t4) {
      n.__e(t4, r3);
    }
    i3.__P = i3.__n = null;
  }
  if (i3 = t3.__k) for (e3 = 0; e3 < i3.length; e3++) i3[e3] && J(i3[e3], r3, "function" != typeof t3.type || u3 && !t3.props.__P);
  !u3 && (i3 = t3.__c) && (i3 = i3.__z) && (f4 = B(i3, o4 = [])) && (i3 == t3.__e && o4.some(g), g(f4), g(i3)), u3 || g(t3.__e), t3.__e = t3.__c = t3.__ = null;
}
function K(n2, t3, r3) {
  return this.constructor(n2, r3);
}
function Q(t3, r3) {
  var u3, i3, f4, o4;
  n.__ && n.__(t3, r3), 9 == r3.nodeType && (r3 = r3.documentElement), i3 = (u3 = t3 && 32 & t3.__u) ? null : r3.__k, r3.__k = m($, { children: [t3] }), f4 = [], o4 = [], z(r3, r3.__k, i3 || p, p, r3.namespaceURI, i3 ? null : r3.firstChild ? d.call(r3.childNodes) : null, f4, i3 ? i3.__e : r3.firstChild, u3, o4), E(f4, r3.__k, o4), r3.__k.props.children = null;
}
n = { __e: function(n2, t3, r3, u3) {
  for (var i3, o4, e3; t3 = t3.__; ) if ((i3 = t3.__c) && !(1 & i3.__g)) {
    i3.__g |= 4;
    try {
      if ((e3 = (o4 = i3.constructor) && o4.getDerivedStateFromError) && i3.setState(o4.getDerivedStateFromError(n2)), i3.componentDidCatch && (i3.componentDidCatch(n2, u3 || {}), e3 = 1), e3 && 8 & i3.__g) return void (i3.__g |= 2);
    } catch (t4) {
      n2 = t4;
    }
  }
  throw f = 0, n2;
} }, t = 0, r = function(n2) {
  return null != n2 && n2.constructor === h;
}, x.prototype.setState = function(n2, t3) {
  var r3 = this.__s;
  r3 && r3 != this.state || (r3 = this.__s = _({}, this.state)), "function" == typeof n2 && (n2 = n2(_({}, r3), this.props)), n2 && (_(r3, n2), this.__v && (t3 && this.__k.push(t3), L(this)));
}, x.prototype.forceUpdate = function(n2) {
  this.__v && (this.__g |= 4, n2 && this.__h.push(n2), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n2, t3) {
  return n2.__v.__b - t3.__v.__b;
}, e = /* @__PURE__ */ Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// src/console/api.ts
var ApiProblem = class extends Error {
  status;
  code;
  /** When to ask again; undefined: that would change nothing. */
  retryAfterSeconds;
  constructor(status, message, {
    code,
    retryAfterSeconds
  } = {}) {
    super(message);
    this.name = "ApiProblem";
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
};
function store(initial) {
  let value = initial;
  const listeners = /* @__PURE__ */ new Set();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    }
  };
}
var session = store(void 0);
var unreachableSince = store(null);
async function get(path, { signal, wait } = {}) {
  const response = await send(path, {
    headers: wait === void 0 ? {} : { Prefer: `wait=${wait}` },
    ...signal === void 0 ? {} : { signal }
  });
  const [, next] = /<([^>]+)>; *rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
  return { data: await response.json(), next };
}
async function getText(path) {
  return (await send(path, {})).text();
}
async function post(path, body) {
  const response = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Countersign-Console": "1" },
    body: JSON.stringify(body)
  });
  return response.status === 204 ? void 0 : await response.json();
}
async function send(path, init) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error2) {
    if (!(error2 instanceof DOMException && error2.name === "AbortError"))
      unreachableSince.set(unreachableSince.get() ?? Date.now());
    throw error2;
  }
  unreachableSince.set(null);
  if (response.ok) return response;
  const { error = response.statusText, code } = await response.json().catch(() => ({}));
  if (response.status === 401) session.set(null);
  const retryAfter = response.headers.get("Retry-After");
  throw new ApiProblem(response.status, error, {
    code,
    retryAfterSeconds: retryAfter === null ? void 0 : Number(retryAfter)
  });
}
function isAborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}
function problemText(error) {
  if (error instanceof ApiProblem) return error.message;
  return "The service cannot be reached.";
}

// src/console/router.ts
var here = () => ({ path: location.pathname, query: new URLSearchParams(location.search) });
var place = store(here());
function navigate(url, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", url);
  place.set(here());
  if (!replace) window.scrollTo(0, 0);
}
function withQuery(changes) {
  const { path, query } = place.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes))
    if (value === void 0 || value === "") next.delete(name);
    else next.set(name, value);
  return next.size === 0 ? path : `${path}?${next.toString()}`;
}
function followLinks() {
  addEventListener("popstate", () => place.set(here()));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !link.pathname.startsWith("/console")) return;
    event.preventDefault();
    navigate(`${link.pathname}${link.search}`);
  });
}
function fit(table, path) {
  const segments = path.replace(/\/$/, "").split("/");
  for (const page of table) {
    const pattern = page.path.split("/");
    if (pattern.length !== segments.length) continue;
    const params = {};
    const fits2 = pattern.every((part, i3) => {
      const segment = segments[i3] ?? "";
      if (!part.startsWith("{")) return part === segment;
      params[part.slice(1, -1)] = decodeURIComponent(segment);
      return true;
    });
    if (fits2) return { page, params };
  }
  return void 0;
}

// src/console/session.ts
async function loadSession() {
  try {
    session.set((await get("/console/me")).data);
  } catch (error) {
    if (error instanceof ApiProblem) session.set(null);
    else setTimeout(() => void loadSession(), 2e3);
  }
}
async function logIn(key) {
  await post("/console/login", { key });
  await loadSession();
}
async function logOut() {
  await post("/console/logout", {}).catch(() => void 0);
  session.set(null);
}

// node_modules/preact/hooks/dist/hooks.mjs
var t2;
var r2;
var u2;
var i2;
var o2 = Object.is;
var f2 = 0;
var c2 = [];
var e2 = [];
var a2 = n;
var v2 = a2.__b;
var l2 = a2.__r;
var m2 = a2.diffed;
var h2 = a2.__c;
var s2 = a2.unmount;
var p2 = a2.__;
function y2(n2, t3) {
  a2.__h && a2.__h(r2, n2, f2 || t3), f2 = 0;
  var u3 = r2.__H || (r2.__H = { __: [], __h: [] });
  return n2 >= u3.__.length && u3.__.push({}), u3.__[n2];
}
function d2(n2) {
  return f2 = 1, _2(G2, n2);
}
function _2(n2, u3, i3) {
  var f4 = y2(t2++, 2);
  if (f4.t = n2, !f4.__c && (f4.__ = [i3 ? i3(u3) : G2(void 0, u3), function(n3) {
    var t3 = (f4.__N || f4.__)[0], r3 = f4.t(t3, n3);
    o2(t3, r3) || (f4.__N = [r3, f4.__[1]], f4.__c.setState({}));
  }], f4.__c = r2, !r2.__f)) {
    r2.__f = true;
    var c3 = r2.shouldComponentUpdate;
    r2.shouldComponentUpdate = function(n3, t3, r3) {
      var u4 = this.__H;
      if (!u4) return true;
      var i4 = false, f5 = this.props != n3;
      if (u4.__.some(function(n4) {
        n4.__N && (i4 = true, o2(n4.__[0], n4.__N[0]) || (f5 = true));
      }), c3) {
        var e3 = c3.call(this, n3, t3, r3);
        return i4 ? e3 || f5 : e3;
      }
      return !i4 || f5;
    };
  }
  return f4.__;
}
function A2(n2, u3) {
  var i3 = y2(t2++, 3);
  !a2.__s && E2(i3.__H, u3) && (i3.__P = true, i3.__ = n2, i3.u = u3, r2.__H.__h.push(i3));
}
function T2(n2) {
  return f2 = 5, w2(function() {
    return { current: n2 };
  }, []);
}
function w2(n2, r3) {
  var u3 = y2(t2++, 7);
  return E2(u3.__H, r3) && (u3.__ = n2(), u3.__H = r3), u3.__;
}
function g2() {
  var n2;
  do {
    for (; n2 = e2.shift(); ) try {
      C2(n2);
    } catch (t4) {
      a2.__e(t4, { __: (n2 = n2.__P) && n2.__v });
    }
    for (; n2 = c2.shift(); ) {
      var t3 = n2.__H;
      if (n2.__P && t3) try {
        t3.__h.some(C2), t3.__h.some(D2), t3.__h = [];
      } catch (r3) {
        t3.__h = [], a2.__e(r3, n2.__v);
      }
    }
  } while (e2.length);
}
a2.__b = function(n2) {
  r2 = null, v2 && v2(n2);
}, a2.__ = function(n2, t3) {
  n2 && t3.__k && t3.__k.__m && (n2.__m = t3.__k.__m), p2 && p2(n2, t3);
}, a2.__r = function(n2) {
  l2 && l2(n2), t2 = 0;
  var i3 = (r2 = n2.__c).__H;
  i3 && (u2 == r2 ? r2.__h = [] : (i3.__h.some(C2), i3.__h.some(D2), t2 = 0), i3.__h = [], i3.__.some(function(n3) {
    n3.__N && (n3.__ = n3.__N), n3.u = n3.__N = void 0;
  })), u2 = r2;
}, a2.diffed = function(n2) {
  m2 && m2(n2);
  var t3 = n2.__c;
  t3 && t3.__H && (t3.__H.__h.length && B2(c2.push(t3)), t3.__H.__.some(function(n3) {
    n3.u && (n3.__H = n3.u);
  })), u2 = r2 = null;
}, a2.__c = function(n2, t3) {
  t3.some(function(n3) {
    try {
      n3.__h.some(C2), n3.__h = n3.__h.filter(function(n4) {
        return !n4.__ || D2(n4);
      });
    } catch (t4) {
      n3.__h = [function() {
        throw t4;
      }];
    }
  }), h2 && h2(n2, t3);
}, a2.unmount = function(n2) {
  s2 && s2(n2);
  var t3, r3, u3 = n2.__c;
  u3 && u3.__H && (u3.__H.__.some(function(u4) {
    try {
      if (u4.__P && u4.__c) {
        if (void 0 === r3) {
          for (r3 = n2.__; r3 && (!r3.__c || !r3.__c.__P); ) r3 = r3.__;
          r3 = r3 && r3.__c;
        }
        u4.__P = r3, B2(e2.push(u4));
      } else C2(u4);
    } catch (n3) {
      t3 = n3;
    }
  }), u3.__H = void 0, t3 && a2.__e(t3, u3.__v));
};
var k = "function" == typeof requestAnimationFrame;
function z2(n2) {
  var t3, r3 = function() {
    clearTimeout(u3), k && cancelAnimationFrame(t3), setTimeout(n2);
  }, u3 = setTimeout(r3, 35);
  k && (t3 = requestAnimationFrame(r3));
}
function B2(n2) {
  1 != n2 && i2 == a2.requestAnimationFrame || ((i2 = a2.requestAnimationFrame) || z2)(g2);
}
function C2(n2) {
  var t3 = r2, u3 = n2.__c;
  "function" == typeof u3 && (n2.__c = void 0, u3()), r2 = t3;
}
function D2(n2) {
  var t3 = r2;
  n2.__c = n2.__(), r2 = t3;
}
function E2(n2, t3) {
  return !n2 || n2.length != t3.length || t3.some(function(t4, r3) {
    return !o2(t4, n2[r3]);
  });
}
function G2(n2, t3) {
  return "function" == typeof t3 ? t3(n2) : t3;
}

// src/console/forms.ts
function fieldOf(form, name) {
  const value = form instanceof HTMLFormElement ? new FormData(form).get(name) : null;
  return typeof value === "string" ? value.trim() : "";
}

// src/console/hooks.ts
function useStore({ get: read, follow }) {
  const [value, setValue] = d2(read());
  A2(() => {
    setValue(read());
    return follow(() => setValue(read()));
  }, [read, follow]);
  return value;
}
function whileSeen(load, everyMs) {
  const leaving = new AbortController();
  const { signal } = leaving;
  let timer;
  let isLoading = false;
  let hasLoaded = false;
  const look = async () => {
    const isDone = everyMs === void 0 && hasLoaded;
    if (isLoading || isDone || signal.aborted || document.visibilityState !== "visible") return;
    clearTimeout(timer);
    isLoading = true;
    await load(signal);
    isLoading = false;
    hasLoaded = true;
    if (everyMs !== void 0 && !signal.aborted && session.get() !== null)
      timer = setTimeout(() => void look(), everyMs);
  };
  document.addEventListener("visibilitychange", () => void look(), { signal });
  void look();
  return () => {
    leaving.abort();
    clearTimeout(timer);
  };
}
function useLoaded(path, everyMs) {
  const [state, setState] = d2({});
  const [round, setRound] = d2(0);
  A2(() => {
    if (path === void 0) return void 0;
    return whileSeen(async (signal) => {
      try {
        const { data, next } = await get(path, { signal });
        setState({ path, data, ...next === void 0 ? {} : { next } });
      } catch (error) {
        if (!isAborted(error)) setState((before) => ({ ...before, problem: problemText(error) }));
      }
    }, everyMs);
  }, [path, everyMs, round]);
  const isOfThis = state.path === path;
  return {
    data: isOfThis ? state.data : void 0,
    next: isOfThis ? state.next : void 0,
    problem: state.problem,
    reload: () => setRound(round + 1)
  };
}
function useNow(everyMs = 1e3) {
  const [now, setNow] = d2(Date.now());
  A2(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
function useTitle(title) {
  A2(() => {
    document.title = `${title} · Countersign`;
  }, [title]);
}

// src/core/printable.ts
var NOT_PRINTABLE = (
  // oxlint-disable-next-line no-control-regex -- they are what is replaced
  /[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu
);
function printable(line) {
  return line.replaceAll(NOT_PRINTABLE, "�");
}
function printableJson(text2) {
  return text2.replaceAll(
    NOT_PRINTABLE,
    (character) => character === "\n" ? character : character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  );
}

// src/console/text.ts
function oneLine(text2) {
  return printable(text2);
}
function jsonText(value, indent) {
  return printableJson(JSON.stringify(value, null, indent) ?? "");
}
function relative(iso, nowMs) {
  const ms = Date.parse(iso) - nowMs;
  if (Number.isNaN(ms)) return "";
  const [amount, unit] = largest(Math.abs(ms) / 1e3);
  if (unit === "s" && amount < 5) return "now";
  return ms > 0 ? `in ${amount} ${unit}` : `${amount} ${unit} ago`;
}
function largest(seconds) {
  if (seconds < 60) return [Math.floor(seconds), "s"];
  if (seconds < 3600) return [Math.floor(seconds / 60), "min"];
  if (seconds < 48 * 3600) return [Math.floor(seconds / 3600), "h"];
  return [Math.floor(seconds / 86400), "days"];
}
function absolute(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var f3 = /* @__PURE__ */ Symbol.for("pv");
var o3 = 0;
function a3(t3, e3, n2, u3, a4, i3) {
  e3 || (e3 = {});
  var c3, l3, p3 = e3;
  if ("ref" in p3 && "function" != typeof t3) for (l3 in p3 = {}, e3) "ref" == l3 ? c3 = e3[l3] : p3[l3] = e3[l3];
  var s3 = { type: t3, props: p3, key: n2, ref: c3, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: f3, __v: --o3, __i: -1, __u: 0 };
  return (a4 || i3) && (s3.__source = a4, s3.__self = i3), n.vnode && n.vnode(s3), s3;
}

// src/console/components/basic.tsx
function Time({ at }) {
  const now = useNow(1e4);
  return /* @__PURE__ */ a3("time", { dateTime: at, title: absolute(at), "data-absolute": absolute(at), children: relative(at, now) });
}
function Countdown({ to }) {
  const now = useNow();
  const seconds = Math.max(0, Math.floor((Date.parse(to) - now) / 1e3));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds % 3600 / 60)];
  const text2 = hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
  return /* @__PURE__ */ a3(
    "time",
    {
      dateTime: to,
      title: absolute(to),
      class: seconds < 300 ? "urgent" : "",
      "data-absolute": absolute(to),
      children: seconds === 0 ? "over" : `${text2} left`
    }
  );
}
function Copy({ text: text2, label = "Copy" }) {
  const [copied, setCopied] = d2(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text2);
    setCopied(true);
    setTimeout(() => setCopied(false), 2e3);
  };
  return /* @__PURE__ */ a3("button", { type: "button", class: "copy", onClick: () => void copy(), "aria-live": "polite", children: copied ? "Copied" : label });
}
function Hash({ value, whole = false }) {
  return /* @__PURE__ */ a3("span", { class: "hash", children: [
    /* @__PURE__ */ a3("code", { title: value, children: whole || value.length <= 18 ? value : `${value.slice(0, 12)}…` }),
    /* @__PURE__ */ a3(Copy, { text: value })
  ] });
}
function Said({ text: text2 }) {
  return /* @__PURE__ */ a3("bdi", { class: "said", children: oneLine(text2) });
}
var GOOD = [
  "APPROVED",
  "COMPLETED",
  "VERIFIED",
  "USED",
  "IN_EFFECT",
  "delivering",
  "confirmed",
  "FINALIZED"
];
var BAD = [
  "DECLINED",
  "REJECTED",
  "FAILED",
  "REVOKED",
  "RETIRED",
  "disabled",
  "contradicted",
  "ERRORED",
  "WARNING"
];
function Badge({ status }) {
  const tone = GOOD.includes(status) ? "good" : BAD.includes(status) ? "bad" : "open";
  return /* @__PURE__ */ a3("span", { class: `badge ${tone}`, children: status.replaceAll("_", " ").toLowerCase() });
}
function Empty({ children }) {
  return /* @__PURE__ */ a3("p", { class: "empty", children });
}
function Problem({ text: text2 }) {
  return text2 === void 0 ? null : /* @__PURE__ */ a3("p", { class: "problem", role: "alert", children: text2 });
}
var FOLDED_FROM = 400;
function Members({ of: of2 }) {
  return /* @__PURE__ */ a3("dl", { class: "members", children: Object.entries(of2).map(([name, value]) => /* @__PURE__ */ a3("div", { class: name.length > 24 ? "long" : "", children: [
    /* @__PURE__ */ a3("dt", { children: oneLine(name) }),
    /* @__PURE__ */ a3("dd", { children: /* @__PURE__ */ a3(Value, { value }) })
  ] }, name)) });
}
function Value({ value }) {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
    return /* @__PURE__ */ a3(Members, { of: value });
  const text2 = jsonText(value);
  if (text2.length <= FOLDED_FROM) return /* @__PURE__ */ a3("code", { children: text2 });
  return /* @__PURE__ */ a3("details", { children: [
    /* @__PURE__ */ a3("summary", { children: [
      /* @__PURE__ */ a3("code", { children: [
        text2.slice(0, 120),
        "…"
      ] }),
      " ",
      text2.length,
      " characters"
    ] }),
    /* @__PURE__ */ a3("code", { children: text2 })
  ] });
}
function Panel({
  title,
  children,
  action
}) {
  return /* @__PURE__ */ a3("section", { class: "panel", children: [
    /* @__PURE__ */ a3("header", { children: [
      /* @__PURE__ */ a3("h2", { children: title }),
      action
    ] }),
    children
  ] });
}
function Command({ text: text2 }) {
  return /* @__PURE__ */ a3("div", { class: "command", children: [
    /* @__PURE__ */ a3("pre", { tabIndex: 0, children: text2 }),
    /* @__PURE__ */ a3(Copy, { text: text2 })
  ] });
}

// src/console/components/list.tsx
function Table({
  caption,
  columns,
  rows,
  keyOf,
  hrefOf: hrefOf2
}) {
  return /* @__PURE__ */ a3("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption, children: /* @__PURE__ */ a3("table", { children: [
    /* @__PURE__ */ a3("caption", { class: "hidden", children: caption }),
    /* @__PURE__ */ a3("thead", { children: /* @__PURE__ */ a3("tr", { children: columns.map(({ title, minor }) => /* @__PURE__ */ a3("th", { scope: "col", class: minor ? "minor" : "", children: title }, title)) }) }),
    /* @__PURE__ */ a3("tbody", { children: rows.map((row) => {
      const href = hrefOf2?.(row);
      return /* @__PURE__ */ a3("tr", { class: href === void 0 ? "" : "link", children: columns.map(({ title, cell, minor }, i3) => /* @__PURE__ */ a3("td", { class: minor ? "minor" : "", children: i3 === 0 && href !== void 0 ? /* @__PURE__ */ a3("a", { href, "data-row": true, children: cell(row) }) : cell(row) }, title)) }, keyOf(row));
    }) })
  ] }) });
}
function Listed({
  loaded,
  rowsOf,
  empty,
  children
}) {
  const { data, problem, next } = loaded;
  if (data === void 0)
    return problem === void 0 ? /* @__PURE__ */ a3("p", { class: "quiet", children: "Loading…" }) : /* @__PURE__ */ a3(Problem, { text: problem });
  const rows = rowsOf(data);
  const cursor = next === void 0 ? void 0 : new URLSearchParams(next.split("?")[1]).get("cursor");
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3(Problem, { text: problem }),
    rows.length === 0 ? /* @__PURE__ */ a3(Empty, { children: empty }) : children(rows),
    /* @__PURE__ */ a3("div", { class: "pager", children: [
      new URLSearchParams(location.search).has("cursor") && /* @__PURE__ */ a3("a", { href: withQuery({ cursor: void 0 }), children: "First page" }),
      cursor !== null && cursor !== void 0 && /* @__PURE__ */ a3("a", { href: withQuery({ cursor }), children: "Next page" })
    ] })
  ] });
}
function Choice({
  label,
  name,
  values
}) {
  const value = new URLSearchParams(location.search).get(name) ?? "";
  return /* @__PURE__ */ a3("label", { class: "filter", children: [
    label,
    /* @__PURE__ */ a3(
      "select",
      {
        value,
        onChange: ({ currentTarget }) => navigate(withQuery({ [name]: currentTarget.value, cursor: void 0 }), { replace: true }),
        children: [
          /* @__PURE__ */ a3("option", { value: "", children: "all" }),
          values.map((one) => /* @__PURE__ */ a3("option", { value: one, children: one.replaceAll("_", " ").toLowerCase() }, one))
        ]
      }
    )
  ] });
}
function TextFilter({
  label,
  name,
  placeholder
}) {
  const value = new URLSearchParams(location.search).get(name) ?? "";
  return /* @__PURE__ */ a3("label", { class: "filter", children: [
    label,
    /* @__PURE__ */ a3(
      "input",
      {
        defaultValue: value,
        placeholder: placeholder ?? "",
        "data-filter": name,
        onChange: ({ currentTarget }) => navigate(withQuery({ [name]: currentTarget.value.trim(), cursor: void 0 }), { replace: true })
      }
    )
  ] });
}
function listPath(path, query, names) {
  const given = names.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === "" ? [] : [[name, value]];
  });
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

// src/console/pages/audit.tsx
function callerIn(detail) {
  const { callerId } = detail ?? {};
  return typeof callerId === "string" ? callerId : void 0;
}
function Audit({ query }) {
  const loaded = useLoaded(
    listPath("/audit/events", query, ["type", "since", "until", "cursor"]),
    5e3
  );
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Audit" }),
    /* @__PURE__ */ a3("div", { class: "filters", children: [
      /* @__PURE__ */ a3(TextFilter, { label: "Type", name: "type", placeholder: "governance.approved" }),
      /* @__PURE__ */ a3(TextFilter, { label: "Since", name: "since", placeholder: "2026-11-24T00:00:00Z" }),
      /* @__PURE__ */ a3(TextFilter, { label: "Until", name: "until", placeholder: "2026-11-25T00:00:00Z" })
    ] }),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: ({ events }) => events,
        empty: "No such event. What is refused, and what humans do, is written here.",
        children: (rows) => /* @__PURE__ */ a3(
          Table,
          {
            caption: "Audit events, newest first",
            rows,
            keyOf: ({ event }) => event.eventId,
            columns: [
              { title: "Type", cell: ({ event }) => /* @__PURE__ */ a3("code", { children: event.type }) },
              {
                title: "Who",
                cell: ({ event }) => /* @__PURE__ */ a3(Said, { text: event.callerId ?? callerIn(event.detail) ?? "without a key" })
              },
              {
                title: "What",
                cell: ({ event }) => /* @__PURE__ */ a3($, { children: [
                  /* @__PURE__ */ a3(Said, { text: event.reason ?? event.route }),
                  event.detail !== void 0 && /* @__PURE__ */ a3("details", { children: [
                    /* @__PURE__ */ a3("summary", { children: "detail" }),
                    /* @__PURE__ */ a3(Members, { of: event.detail })
                  ] })
                ] })
              },
              { title: "Severity", minor: true, cell: ({ event }) => /* @__PURE__ */ a3(Badge, { status: event.severity }) },
              { title: "When", cell: ({ event }) => /* @__PURE__ */ a3(Time, { at: event.occurredAt }) }
            ]
          }
        )
      }
    )
  ] });
}

// src/console/pages/approvers.tsx
function Approvers({ me }) {
  const approvers = useLoaded("/approvers", 3e4);
  const callerKeys = useLoaded("/caller-keys", 3e4);
  const own = useLoaded("/.well-known/jwks.json", 3e4);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Approvers and keys" }),
    /* @__PURE__ */ a3(Panel, { title: "Approvers", children: [
      /* @__PURE__ */ a3(
        Listed,
        {
          loaded: approvers,
          rowsOf: (reply) => reply.approvers,
          empty: "Nobody can approve yet. The handbook's chapter Governing enrols the first approver.",
          children: (rows) => /* @__PURE__ */ a3(
            Table,
            {
              caption: "Keys of approvers",
              rows,
              keyOf: ({ approverId, keyId }) => `${approverId}:${keyId}`,
              columns: [
                { title: "Approver", cell: ({ approverId }) => /* @__PURE__ */ a3(Said, { text: approverId }) },
                { title: "Key", cell: ({ keyId }) => /* @__PURE__ */ a3(Said, { text: keyId }) },
                {
                  title: "Signs as",
                  cell: ({ passkey }) => passkey === void 0 ? "raw key" : "passkey"
                },
                {
                  title: "Status",
                  cell: ({ revokedAt }) => /* @__PURE__ */ a3(Badge, { status: revokedAt === void 0 ? "IN_EFFECT" : "REVOKED" })
                },
                { title: "Enrolled", minor: true, cell: ({ enrolledAt }) => /* @__PURE__ */ a3(Time, { at: enrolledAt }) }
              ]
            }
          )
        }
      ),
      me.credentialHolderType === "USER" && /* @__PURE__ */ a3("p", { children: [
        /* @__PURE__ */ a3("a", { href: "/console/passkey", children: "Make a passkey" }),
        " that approves, or that resolves changes."
      ] })
    ] }),
    /* @__PURE__ */ a3(Panel, { title: "Keys of callers", children: [
      /* @__PURE__ */ a3("p", { children: [
        /* @__PURE__ */ a3("a", { href: "/console/changes?kind=caller-key", children: "Changes of these keys" }),
        ". The handbook's chapter Callers and keys says how a key is issued, and what to do when one has leaked."
      ] }),
      /* @__PURE__ */ a3(Listed, { loaded: callerKeys, rowsOf: (reply) => reply.callerKeys, empty: "Nobody has a key.", children: (rows) => /* @__PURE__ */ a3(
        Table,
        {
          caption: "Keys of callers",
          rows,
          keyOf: ({ callerId, keyId }) => `${callerId}:${keyId}`,
          columns: [
            { title: "Caller", cell: ({ callerId }) => /* @__PURE__ */ a3(Said, { text: callerId }) },
            { title: "Key", cell: ({ keyId }) => /* @__PURE__ */ a3(Hash, { value: keyId, whole: true }) },
            { title: "Status", cell: ({ status }) => /* @__PURE__ */ a3(Badge, { status }) },
            { title: "May", cell: (row) => /* @__PURE__ */ a3(Said, { text: scopeText(row) }) },
            { title: "From", minor: true, cell: (row) => /* @__PURE__ */ a3(ByWhom, { row }) }
          ]
        }
      ) })
    ] }),
    /* @__PURE__ */ a3(Panel, { title: "Keys of the service", children: [
      /* @__PURE__ */ a3("p", { class: "quiet", children: "Evidence is checked by these. Compare their text with what you saved when you first trusted this service." }),
      /* @__PURE__ */ a3(Listed, { loaded: own, rowsOf: ({ keys }) => keys, empty: "No key is published.", children: (rows) => /* @__PURE__ */ a3(
        Table,
        {
          caption: "Published keys",
          rows,
          keyOf: ({ keyId }) => keyId,
          columns: [
            { title: "Key", cell: ({ keyId }) => /* @__PURE__ */ a3(Hash, { value: keyId, whole: true }) },
            { title: "Algorithm", cell: ({ algorithm }) => /* @__PURE__ */ a3("code", { children: algorithm }) }
          ]
        }
      ) })
    ] })
  ] });
}
function scopeText({
  credentialHolderType,
  readAll,
  allowedCapabilities = [],
  ...row
}) {
  const { callerId, allowedPrincipalIds = [], expiresAt } = row;
  const others = allowedPrincipalIds.filter((id) => id !== callerId);
  return [
    ...credentialHolderType === "USER" ? ["govern (a human)"] : [],
    ...readAll === true ? ["read everything"] : [],
    ...allowedCapabilities.length === 0 ? [] : [allowedCapabilities.join(", ")],
    ...others.length === 0 ? [] : [`as ${others.join(", ")}`],
    ...expiresAt === void 0 ? [] : [`until ${expiresAt}`]
  ].join("; ");
}
function ByWhom({ row }) {
  const { source, issuedBy, issuedByChange, revokedBy, revokedByChange } = row;
  const changeId = revokedByChange ?? issuedByChange;
  if (changeId === void 0) return /* @__PURE__ */ a3($, { children: source });
  const by = revokedBy === void 0 ? `issued by ${issuedBy ?? ""}` : `revoked by ${revokedBy}`;
  return /* @__PURE__ */ a3("a", { href: `/console/changes/caller-key/${changeId}`, children: /* @__PURE__ */ a3(Said, { text: by }) });
}

// src/console/components/changes.tsx
var changePaths = {
  policy: "/policies/pending-changes",
  approver: "/approvers/changes",
  "external-connector": "/external-connectors/changes",
  "webhook-rules": "/webhook-rules/changes",
  "event-endpoint": "/event-endpoints/changes",
  "caller-key": "/caller-keys/changes"
};
function ChangeTable({
  caption,
  changes
}) {
  return /* @__PURE__ */ a3(
    Table,
    {
      caption,
      rows: changes,
      keyOf: ({ changeId }) => changeId,
      hrefOf: ({ kind, changeId }) => `/console/changes/${kind}/${changeId}`,
      columns: [
        { title: "What", cell: ({ kind, target }) => /* @__PURE__ */ a3(Said, { text: `${kind.replace("-", " ")} ${target}` }) },
        { title: "Proposed by", cell: ({ proposedBy }) => /* @__PURE__ */ a3(Said, { text: proposedBy }) },
        { title: "Reason", minor: true, cell: ({ reason }) => /* @__PURE__ */ a3(Said, { text: reason }) },
        { title: "Status", cell: ({ status }) => /* @__PURE__ */ a3(Badge, { status }) },
        { title: "When", cell: ({ proposedAt }) => /* @__PURE__ */ a3(Time, { at: proposedAt }) }
      ]
    }
  );
}

// src/core/impact-report.ts
var IMPACT_REPORT_BYTES_MAX = 32768;
var LISTED_MAX = 200;
function simulationOf(proposed) {
  const { action, retires, ...policy } = proposed;
  if (action === "retire") return { policyId: policy.policyId, retires: [policy.policyVersion] };
  return { policy, ...retires === void 0 ? {} : { retires } };
}
function addChunk(before, chunk) {
  const { flips, retired = [], skipped, range, progress, complete } = chunk;
  const toRejected = flips.filter(({ wouldBe }) => wouldBe.outcome === "REJECTED").length;
  return {
    ...range,
    share: progress.share,
    complete,
    examined: (before?.examined ?? 0) + progress.examined,
    decided: (before?.decided ?? 0) + progress.decided,
    skipped: (before?.skipped ?? 0) + skipped,
    approvedToRejected: (before?.approvedToRejected ?? 0) + toRejected,
    rejectedToApproved: (before?.rejectedToApproved ?? 0) + flips.length - toRejected,
    refusedAsRetired: (before?.refusedAsRetired ?? 0) + retired.length,
    flips: [...before?.flips ?? [], ...flips].slice(0, LISTED_MAX),
    retired: [...before?.retired ?? [], ...retired].slice(0, LISTED_MAX)
  };
}
function impactReport({ changeId, changeHash }, { share: _share, complete: _complete, flips, retired, ...found }, madeAt) {
  const none = { version: 1, changeId, changeHash, madeAt, ...found, flips: [], retired: [] };
  const room = IMPACT_REPORT_BYTES_MAX - bytesOf(none);
  const ending = { ...none, retired: fitting(retired, room / 2) };
  return { ...ending, flips: fitting(flips, IMPACT_REPORT_BYTES_MAX - bytesOf(ending)) };
}
function fitting(list, roomBytes) {
  let left = roomBytes;
  const tooMany = list.findIndex((item) => (left -= bytesOf(item) + 1) < 0);
  return list.slice(0, tooMany === -1 ? list.length : tooMany);
}
function bytesOf(value) {
  return new TextEncoder().encode(canonicalize(value)).length;
}

// src/console/hashing.ts
function sha256Hex(text2) {
  return bytesToHex(sha256(utf8ToBytes(text2)));
}

// src/console/components/impact.tsx
var DAY_MS = 864e5;
var RANGES = [
  ["the last day", DAY_MS],
  ["the last 7 days", 7 * DAY_MS],
  ["the last 30 days", 30 * DAY_MS],
  ["everything", void 0]
];
function impactHashOf(report) {
  return sha256Hex(canonicalize(report));
}
function Impact({
  change,
  onReport
}) {
  const [rangeMs, setRangeMs] = d2(30 * DAY_MS);
  const [found, setFound] = d2();
  const [running, setRunning] = d2(false);
  const [problem, setProblem] = d2();
  const run = T2(0);
  A2(() => () => void run.current++, []);
  const start = async () => {
    const mine = ++run.current;
    const isOver = () => run.current !== mine;
    setProblem(void 0);
    setFound(void 0);
    setRunning(true);
    onReport(void 0);
    try {
      const since = rangeMs === void 0 ? {} : { since: new Date(Date.now() - rangeMs).toISOString() };
      const simulated = simulationOf(change.proposed);
      let all;
      let cursor;
      do {
        const chunk = await aChunk({ ...simulated, ...since, cursor }, isOver);
        if (isOver()) return;
        all = addChunk(all, chunk);
        setFound(all);
        cursor = chunk.next;
      } while (cursor !== void 0);
      onReport(impactReport(change, all, (/* @__PURE__ */ new Date()).toISOString()));
    } catch (error) {
      if (!isOver()) setProblem(problemText(error));
    }
    if (!isOver()) setRunning(false);
  };
  const stop = () => {
    run.current++;
    setRunning(false);
  };
  return /* @__PURE__ */ a3(Panel, { title: "What it would have changed", children: [
    /* @__PURE__ */ a3("p", { children: "Decide past executions again as if this change were in effect. Nothing is executed." }),
    /* @__PURE__ */ a3("div", { class: "filters", children: [
      /* @__PURE__ */ a3("label", { class: "filter", children: [
        "Decisions of",
        /* @__PURE__ */ a3(
          "select",
          {
            value: String(rangeMs),
            disabled: running,
            onChange: ({ currentTarget }) => setRangeMs(RANGES[currentTarget.selectedIndex]?.[1]),
            children: RANGES.map(([name, ms]) => /* @__PURE__ */ a3("option", { value: String(ms), children: name }, name))
          }
        )
      ] }),
      running ? /* @__PURE__ */ a3("button", { type: "button", onClick: stop, children: "Stop" }) : /* @__PURE__ */ a3("button", { type: "button", onClick: () => void start(), children: found === void 0 ? "Run" : "Run again" })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    running && /* @__PURE__ */ a3("progress", { value: found?.share ?? 0, "aria-label": "Share of the time that is done" }),
    found !== void 0 && /* @__PURE__ */ a3($, { children: [
      !running && !found.complete && /* @__PURE__ */ a3("p", { children: "Stopped: these findings are not complete, so no signature can cover them." }),
      /* @__PURE__ */ a3(Findings, { change, of: found })
    ] })
  ] });
}
var ATTEMPTS = 10;
async function aChunk(body, isOver) {
  for (let attempt = 1; ; attempt++)
    try {
      return await post("/sandbox/policies/simulate", body);
    } catch (error) {
      const afterSeconds = error instanceof ApiProblem ? error.retryAfterSeconds : void 0;
      if (afterSeconds === void 0 || attempt === ATTEMPTS || isOver()) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(afterSeconds, 60) * 1e3));
    }
}
var execution = {
  title: "Execution",
  cell: ({ businessTransactionId: id }) => /* @__PURE__ */ a3("code", { title: id, children: [
    id.slice(0, 8),
    "…"
  ] })
};
var when = { title: "When", minor: true, cell: ({ createdAt }) => /* @__PURE__ */ a3(Time, { at: createdAt }) };
var placeOf = {
  keyOf: ({ businessTransactionId: id }) => id,
  hrefOf: ({ businessTransactionId: id }) => `/console/executions/${id}`
};
function Findings({ change, of: of2 }) {
  const { approvedToRejected, rejectedToApproved, refusedAsRetired, decided, skipped, flips, retired } = of2;
  const flipped = approvedToRejected + rejectedToApproved;
  const { action, retires } = change.proposed;
  return /* @__PURE__ */ a3($, { children: [
    action !== "retire" && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("p", { role: "status", children: [
        /* @__PURE__ */ a3("strong", { children: [
          counted(flipped, "decision"),
          " of ",
          decided,
          " would differ"
        ] }),
        ": ",
        approvedToRejected,
        " approved would be rejected, ",
        rejectedToApproved,
        " rejected would be approved."
      ] }),
      flips.length > 0 && /* @__PURE__ */ a3(
        Table,
        {
          caption: "Decisions that would differ",
          rows: flips,
          ...placeOf,
          columns: [
            execution,
            { title: "Would be", cell: ({ wouldBe }) => /* @__PURE__ */ a3(Badge, { status: wouldBe.outcome }) },
            { title: "Why", cell: ({ wouldBe }) => /* @__PURE__ */ a3(Said, { text: wouldBe.reason }) },
            when
          ]
        }
      ),
      /* @__PURE__ */ a3(Newest, { listed: flips.length, all: flipped })
    ] }),
    (action === "retire" || retires !== void 0) && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("p", { role: "status", children: [
        /* @__PURE__ */ a3("strong", { children: [
          counted(refusedAsRetired, "execution"),
          " of ",
          decided,
          " would be refused"
        ] }),
        " ",
        "because the version that approved it ends."
      ] }),
      retired.length > 0 && /* @__PURE__ */ a3(
        Table,
        {
          caption: "Executions under a version that ends",
          rows: retired,
          ...placeOf,
          columns: [
            execution,
            { title: "Version", cell: ({ version }) => /* @__PURE__ */ a3(Said, { text: version }) },
            when
          ]
        }
      ),
      /* @__PURE__ */ a3(Newest, { listed: retired.length, all: refusedAsRetired })
    ] }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "Examined ",
      counted(of2.examined, "transaction"),
      " from ",
      absolute(of2.since),
      " to ",
      absolute(of2.until),
      ".",
      " ",
      skipped,
      " under this policy were never decided."
    ] })
  ] });
}
function Newest({ listed, all }) {
  return listed < all ? /* @__PURE__ */ a3("p", { class: "quiet", children: [
    "These are the newest ",
    listed,
    "."
  ] }) : null;
}
function SeenImpact({ change }) {
  const { impactReport: report, resolvedBy, stepUpAuthorization } = change;
  if (report === void 0) return null;
  const hash = impactHashOf(report);
  const isCovered = stepUpAuthorization?.payload.impactHash === hash && report.changeId === change.changeId && report.changeHash === change.changeHash;
  return /* @__PURE__ */ a3(Panel, { title: "What the checker saw", children: [
    isCovered ? /* @__PURE__ */ a3("p", { children: [
      "The signature of ",
      /* @__PURE__ */ a3(Said, { text: resolvedBy ?? "" }),
      " covers this report, made",
      " ",
      /* @__PURE__ */ a3(Time, { at: report.madeAt }),
      "."
    ] }) : /* @__PURE__ */ a3(Problem, { text: "No signature covers this report: its hash is not the one that was signed, or it is of another change." }),
    /* @__PURE__ */ a3(Findings, { change, of: report }),
    /* @__PURE__ */ a3("p", { children: [
      "Hash of the report: ",
      /* @__PURE__ */ a3(Hash, { value: hash })
    ] })
  ] });
}

// src/core/approval-requests/approval-payload.ts
function approvalPayload(request, { approverId, keyId, approvalId, nonce, now }, sha256Hex2) {
  return {
    version: 2,
    approvalId,
    approverId,
    keyId,
    capability: request.capability,
    target: request.target,
    scope: { parametersHash: sha256Hex2(canonicalize(request.parameters)) },
    requestHash: requestHash(request, sha256Hex2),
    issuedAt: now.toISOString(),
    expiresAt: request.expiresAt,
    nonce
  };
}

// src/core/step-up-payload.ts
var STEP_UP_MS = 12e4;
function stepUpPayload({ changeId, changeHash }, {
  action,
  nonce,
  now,
  impactHash
}) {
  return {
    version: 1,
    nonce,
    changeId,
    action,
    changeHash,
    ...impactHash === void 0 ? {} : { impactHash },
    authorizedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + STEP_UP_MS).toISOString()
  };
}

// src/console/passkey.ts
var ALGORITHMS = {
  "-7": "webauthn-es256",
  "-8": "webauthn-ed25519"
};
function algorithmOfPem(publicKeyPem) {
  const spki = publicKeyPem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  return atob(spki).length > ED25519_SPKI_BYTES ? "webauthn-es256" : "webauthn-ed25519";
}
var ED25519_SPKI_BYTES = 44;
async function approvalBy(passkey, { request }) {
  const { approverId, keyId } = passkey;
  const by = { approverId, keyId, approvalId: crypto.randomUUID(), nonce: aNonce(), now: /* @__PURE__ */ new Date() };
  const payload = approvalPayload(request, by, sha256Hex);
  return { payload, ...await sign("approval", payload, passkey) };
}
async function stepUpBy(passkey, change, { action, impactHash }) {
  const payload = stepUpPayload(change, { action, nonce: aNonce(), now: /* @__PURE__ */ new Date(), impactHash });
  return { payload, keyId: "passkey", ...await sign("step-up", payload, passkey) };
}
async function makePasskey(approverId, keyId) {
  const rpId = location.hostname;
  const made = await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: "Countersign" },
      user: { id: randomBytes(32), name: `${approverId}:${keyId}`, displayName: approverId },
      // No attestation is asked for, so nobody reads this one; the assertion below has a challenge that counts.
      challenge: randomBytes(32),
      pubKeyCredParams: Object.keys(ALGORITHMS).map((alg) => ({ type: "public-key", alg: Number(alg) })),
      authenticatorSelection: {
        residentKey: "required",
        requireResidentKey: true,
        userVerification: "required"
      },
      attestation: "none"
    }
  });
  if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse))
    throw new NoPasskey("The browser made no passkey.");
  const key = made.response.getPublicKey();
  const algorithm = ALGORITHMS[made.response.getPublicKeyAlgorithm()];
  if (key === null || algorithm === void 0)
    throw new NoPasskey("The passkey has a key that is neither P-256 nor Ed25519.");
  const spki = toBase64(new Uint8Array(key));
  const flags = new Uint8Array(made.response.getAuthenticatorData())[FLAGS_AT] ?? 0;
  const payload = { version: 1, approverId, keyId, spki, rpId, origin: location.origin };
  const proof = { payload, ...await sign("key-proof", payload, { rpId, algorithm, credentialId: made.id }) };
  return {
    publicKeyPem: `-----BEGIN PUBLIC KEY-----
${spki.replaceAll(/.{64}(?=.)/g, "$&\n")}
-----END PUBLIC KEY-----
`,
    passkey: {
      rpId,
      origins: [location.origin],
      credentialId: made.id,
      backupEligible: (flags & BACKUP_ELIGIBLE) !== 0,
      proof
    }
  };
}
var FLAGS_AT = 32;
var BACKUP_ELIGIBLE = 8;
var NoPasskey = class extends Error {
};
async function sign(artifact, payload, { rpId, algorithm, credentialId }) {
  const id = credentialId === void 0 ? void 0 : base64url(credentialId);
  const challenge = sha256(preAuthEncoding(artifact, canonicalize(payload)));
  const given = await navigator.credentials.get({
    publicKey: {
      rpId,
      challenge,
      userVerification: "required",
      ...id === void 0 ? {} : { allowCredentials: [{ type: "public-key", id }] }
    }
  });
  if (!(given instanceof PublicKeyCredential) || !(given.response instanceof AuthenticatorAssertionResponse))
    throw new NoPasskey("The browser gave no signature.");
  const { signature, authenticatorData, clientDataJSON } = given.response;
  return {
    algorithm,
    signature: text(signature),
    webauthn: { authenticatorData: text(authenticatorData), clientDataJSON: text(clientDataJSON) }
  };
}
function text(bytes) {
  return toBase64(new Uint8Array(bytes));
}
function aNonce() {
  return bytesToHex(randomBytes(16));
}
function problemOfPasskey(error) {
  if (error instanceof NoPasskey) return error.message;
  if (!(error instanceof DOMException)) return void 0;
  if (error.name === "NotAllowedError")
    return "Nothing was signed: you cancelled, took too long, or this device has not the passkey that was asked for.";
  if (error.name === "SecurityError")
    return `Nothing was signed: a passkey of another host cannot be used at ${location.host}.`;
  return `Nothing was signed: ${error.message}`;
}

// src/console/signing.ts
function useSigning() {
  const [{ waits, done, problem }, set] = d2({
    waits: false,
    done: false,
    problem: void 0
  });
  return {
    waits,
    done,
    problem,
    async run(deliver) {
      set({ waits: true, done: false, problem: void 0 });
      try {
        await deliver();
        set({ waits: true, done: true, problem: void 0 });
      } catch (error) {
        set({ waits: false, done: false, problem: problemOfPasskey(error) ?? problemText(error) });
      }
    }
  };
}

// src/console/pages/changes.tsx
var STATUSES = ["PENDING_APPROVAL", "APPROVED", "REJECTED"];
function Changes({ query }) {
  const loaded = useLoaded(
    listPath("/changes", query, ["kind", "status", "cursor"]),
    1e4
  );
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Changes" }),
    /* @__PURE__ */ a3("div", { class: "filters", children: [
      /* @__PURE__ */ a3(Choice, { label: "Kind", name: "kind", values: Object.keys(changePaths) }),
      /* @__PURE__ */ a3(Choice, { label: "Status", name: "status", values: STATUSES })
    ] }),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: ({ changes }) => changes,
        empty: "No such change. The handbook's chapter Governing proposes one.",
        children: (rows) => /* @__PURE__ */ a3(ChangeTable, { caption: "Changes", changes: rows })
      }
    )
  ] });
}
function hashOf(change) {
  const shown = shownOf(change);
  const isWhole = Object.values(shown).every((member) => member !== void 0);
  return isWhole ? sha256Hex(canonicalize(shown)) : void 0;
}
function Change({ params, me }) {
  const { kind = "", id = "" } = params;
  const path = changePaths[kind];
  const { data, problem } = useLoaded(path && `${path}/${encodeURIComponent(id)}`, 5e3);
  const [made, setReport] = d2();
  const report = made?.changeHash === data?.changeHash ? made : void 0;
  useTitle(data === void 0 ? "Change" : oneLine(data.target));
  if (data === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Change" }),
      problem === void 0 ? /* @__PURE__ */ a3("p", { class: "quiet", children: "Loading…" }) : /* @__PURE__ */ a3(Problem, { text: problem })
    ] });
  const hash = hashOf(data);
  if (hash !== data.changeHash)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Do not sign this" }),
      /* @__PURE__ */ a3(Problem, { text: "The service names another hash than this page computes from what it was sent. Somebody changes what you see. Tell the operator, and keep this page." }),
      /* @__PURE__ */ a3(Members, { of: { named: data.changeHash, computed: hash ?? "none: a member is missing" } })
    ] });
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: [
        kind.replace("-", " "),
        " ",
        /* @__PURE__ */ a3(Said, { text: data.target })
      ] }),
      /* @__PURE__ */ a3(Badge, { status: data.status })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "Why", children: [
          /* @__PURE__ */ a3("p", { children: [
            /* @__PURE__ */ a3(Said, { text: data.proposedBy }),
            " proposed this ",
            /* @__PURE__ */ a3(Time, { at: data.proposedAt }),
            ":"
          ] }),
          /* @__PURE__ */ a3("blockquote", { children: /* @__PURE__ */ a3(Said, { text: data.reason }) }),
          data.resolvedBy !== void 0 && /* @__PURE__ */ a3("p", { children: [
            data.status === "APPROVED" ? "Approved" : "Rejected",
            " by ",
            /* @__PURE__ */ a3(Said, { text: data.resolvedBy }),
            " ",
            data.resolvedAt !== void 0 && /* @__PURE__ */ a3(Time, { at: data.resolvedAt }),
            data.rejectionReason !== void 0 && /* @__PURE__ */ a3($, { children: [
              ": ",
              /* @__PURE__ */ a3(Said, { text: data.rejectionReason })
            ] })
          ] })
        ] }),
        /* @__PURE__ */ a3(Panel, { title: "Warnings", children: [
          data.warnings.length === 0 ? /* @__PURE__ */ a3(Empty, { children: "None." }) : null,
          /* @__PURE__ */ a3("ul", { children: data.warnings.map((warning) => /* @__PURE__ */ a3("li", { children: /* @__PURE__ */ a3(Said, { text: warning }) }, warning)) })
        ] }),
        kind === "policy" && /* @__PURE__ */ a3(Retires, { change: data }),
        kind === "policy" && data.status === "PENDING_APPROVAL" && /* @__PURE__ */ a3(Impact, { change: data, onReport: setReport }, id),
        data.status === "PENDING_APPROVAL" && me.credentialHolderType === "USER" && /* @__PURE__ */ a3(Resolve, { change: data, me, report }),
        /* @__PURE__ */ a3(SeenImpact, { change: data })
      ] }),
      /* @__PURE__ */ a3("div", { children: [
        data.diff !== void 0 && /* @__PURE__ */ a3(Panel, { title: "What differs", children: /* @__PURE__ */ a3(Members, { of: data.diff }) }),
        /* @__PURE__ */ a3(Panel, { title: "Proposed, whole", children: [
          /* @__PURE__ */ a3(Members, { of: data.proposed }),
          /* @__PURE__ */ a3("p", { children: [
            "Hash that a step-up signs: ",
            /* @__PURE__ */ a3(Hash, { value: data.changeHash })
          ] })
        ] })
      ] })
    ] })
  ] });
}
function Retires({ change }) {
  const { action, policyVersion, retires = [] } = change.proposed;
  const versions = action === "retire" ? [policyVersion] : retires;
  if (versions.length === 0) return null;
  return /* @__PURE__ */ a3(Panel, { title: "What ends", children: /* @__PURE__ */ a3("p", { children: [
    "Version ",
    /* @__PURE__ */ a3(Said, { text: versions.join(", ") }),
    " rejects every execution from the moment of approval. Requests for approval under it end too."
  ] }) });
}
function Resolve({ change, me, report }) {
  const { changeId, kind, proposedBy } = change;
  const path = changePaths[kind] ?? "";
  if (proposedBy === me.callerId)
    return /* @__PURE__ */ a3(Panel, { title: "Resolve", children: /* @__PURE__ */ a3("p", { children: "You proposed this change, so another human must approve or reject it." }) });
  const { stepUpPasskey } = me;
  const url = `${location.origin}${path}/${changeId}`;
  if (stepUpPasskey !== null)
    return /* @__PURE__ */ a3(Panel, { title: "Resolve", children: /* @__PURE__ */ a3(
      ResolveBy,
      {
        own: stepUpPasskey,
        change,
        report,
        path: `${path}/${changeId}`
      },
      changeId
    ) });
  return /* @__PURE__ */ a3(Panel, { title: "Resolve", children: [
    /* @__PURE__ */ a3("p", { children: "Sign on your own machine. The command shows the change again before it signs:" }),
    /* @__PURE__ */ a3(
      Command,
      {
        text: [
          `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" ${url} > mine/change.json`,
          `bin/countersign approver sign-step-up --action approve --key <your step-up key>.pem --change mine/change.json > mine/resolution.json`,
          `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d @mine/resolution.json ${url}/approve`
        ].join("\n")
      }
    ),
    /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "To reject it, sign with ",
      /* @__PURE__ */ a3("code", { children: "--action reject" }),
      " and post to ",
      /* @__PURE__ */ a3("code", { children: "…/reject" }),
      "."
    ] }),
    kind === "policy" && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("p", { children: [
        "To sign what the change would have changed too, make the report first, and add",
        " ",
        /* @__PURE__ */ a3("code", { children: "--impact mine/report.json" }),
        " to the second command:"
      ] }),
      /* @__PURE__ */ a3(
        Command,
        {
          text: `bin/countersign simulate --change mine/change.json --url ${location.origin} --key "$KEY" --report mine/report.json`
        }
      )
    ] })
  ] });
}
function ResolveBy({
  own,
  change,
  report,
  path
}) {
  const [isCovered, setCovered] = d2(true);
  const impactReport2 = isCovered ? report : void 0;
  const { waits, done, problem, run } = useSigning();
  const resolve = (action, reason = {}) => run(async () => {
    const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) };
    const impactHash = impactReport2 === void 0 ? void 0 : impactHashOf(impactReport2);
    const stepUpAuthorization = await stepUpBy(by, change, { action, impactHash });
    await post(`${path}/${action}`, { stepUpAuthorization, impactReport: impactReport2, ...reason });
  });
  const reject = (event) => {
    event.preventDefault();
    void resolve("reject", { rejectionReason: fieldOf(event.currentTarget, "reason") });
  };
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("p", { children: "Your signature is for exactly this change, and counts for two minutes." }),
    report !== void 0 && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("label", { class: "check", children: [
        /* @__PURE__ */ a3(
          "input",
          {
            type: "checkbox",
            checked: isCovered,
            onChange: ({ currentTarget }) => setCovered(currentTarget.checked)
          }
        ),
        "My signature also covers the report above of what it would have changed."
      ] }),
      /* @__PURE__ */ a3("p", { class: "quiet", children: [
        "Hash of the report: ",
        /* @__PURE__ */ a3(Hash, { value: impactHashOf(report) })
      ] })
    ] }),
    /* @__PURE__ */ a3("div", { class: "actions", children: /* @__PURE__ */ a3("button", { type: "button", class: "primary", disabled: waits, onClick: () => void resolve("approve"), children: "Approve with your passkey…" }) }),
    /* @__PURE__ */ a3("form", { onSubmit: reject, children: [
      /* @__PURE__ */ a3("label", { children: [
        "Why not, for whoever proposed it",
        /* @__PURE__ */ a3("textarea", { name: "reason", required: true, maxLength: 1e3, rows: 2 })
      ] }),
      /* @__PURE__ */ a3("div", { class: "actions", children: /* @__PURE__ */ a3("button", { type: "submit", disabled: waits, children: "Reject with your passkey…" }) })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    done && /* @__PURE__ */ a3("p", { role: "status", children: "Signed. The change shows it in a moment." })
  ] });
}

// src/console/pages/deliveries.tsx
var OUTCOMES = [
  "no-rules",
  "no-match",
  "ambiguous",
  "unknown",
  "rule-failed",
  "pending",
  "confirmed",
  "contradicted"
];
function Deliveries({ query }) {
  const deliveries = useLoaded(
    listPath("/webhook-events", query, ["provider", "outcome", "cursor"]),
    5e3
  );
  const endpoints = useLoaded("/event-endpoints", 1e4);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Deliveries" }),
    /* @__PURE__ */ a3(Panel, { title: "From providers", children: [
      /* @__PURE__ */ a3("div", { class: "filters", children: [
        /* @__PURE__ */ a3(TextFilter, { label: "Provider", name: "provider", placeholder: "razorpay" }),
        /* @__PURE__ */ a3(Choice, { label: "Outcome", name: "outcome", values: OUTCOMES })
      ] }),
      /* @__PURE__ */ a3(
        Listed,
        {
          loaded: deliveries,
          rowsOf: ({ events }) => events,
          empty: "No such delivery. The handbook's chapter Connecting a payment provider takes the first.",
          children: (rows) => /* @__PURE__ */ a3(
            Table,
            {
              caption: "Deliveries of providers, newest first",
              rows,
              keyOf: ({ webhookEventId }) => webhookEventId,
              hrefOf: ({ webhookEventId }) => `/console/deliveries/${webhookEventId}`,
              columns: [
                {
                  title: "Delivery",
                  cell: ({ provider, eventId }) => /* @__PURE__ */ a3(Said, { text: `${provider} ${eventId}` })
                },
                { title: "Outcome", cell: ({ outcome = "waiting" }) => /* @__PURE__ */ a3(Badge, { status: outcome }) },
                {
                  title: "About",
                  minor: true,
                  cell: ({ businessTransactionId }) => /* @__PURE__ */ a3(Execution, { id: businessTransactionId })
                },
                { title: "Received", cell: ({ receivedAt }) => /* @__PURE__ */ a3(Time, { at: receivedAt }) }
              ]
            }
          )
        }
      )
    ] }),
    /* @__PURE__ */ a3(Panel, { title: "Events that are pushed", children: /* @__PURE__ */ a3(
      Listed,
      {
        loaded: endpoints,
        rowsOf: ({ eventEndpoints }) => eventEndpoints,
        empty: "Events are pushed nowhere. The handbook's chapter Events pushed to you registers an endpoint.",
        children: (rows) => /* @__PURE__ */ a3(
          Table,
          {
            caption: "Event endpoints",
            rows,
            keyOf: ({ endpointId }) => endpointId,
            columns: [
              { title: "Endpoint", cell: ({ url }) => /* @__PURE__ */ a3(Said, { text: url }) },
              { title: "State", cell: ({ state }) => /* @__PURE__ */ a3(Badge, { status: state }) },
              {
                title: "Last failure",
                minor: true,
                cell: ({ lastFailure = "" }) => /* @__PURE__ */ a3(Said, { text: lastFailure })
              },
              {
                title: "Last success",
                cell: ({ lastSuccessAt }) => lastSuccessAt === void 0 ? "never" : /* @__PURE__ */ a3(Time, { at: lastSuccessAt })
              }
            ]
          }
        )
      }
    ) })
  ] });
}
function Execution({ id }) {
  return id === void 0 ? null : /* @__PURE__ */ a3("a", { href: `/console/executions/${id}`, children: [
    id.slice(0, 8),
    "…"
  ] });
}
function Delivery({ params }) {
  const { data, problem } = useLoaded(
    `/webhook-events/${encodeURIComponent(params["id"] ?? "")}`
  );
  if (data === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Delivery" }),
      /* @__PURE__ */ a3(Problem, { text: problem })
    ] });
  const { headers, body, ...row } = data;
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: `${data.provider} ${data.eventId}` }) }),
      /* @__PURE__ */ a3(Badge, { status: data.outcome ?? "waiting" }),
      /* @__PURE__ */ a3(Time, { at: data.receivedAt })
    ] }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: /* @__PURE__ */ a3(Panel, { title: "What became of it", children: [
        /* @__PURE__ */ a3(Members, { of: row }),
        data.businessTransactionId !== void 0 && /* @__PURE__ */ a3("p", { children: /* @__PURE__ */ a3("a", { href: `/console/executions/${data.businessTransactionId}`, children: "The execution that it is about" }) })
      ] }) }),
      /* @__PURE__ */ a3("div", { children: /* @__PURE__ */ a3(Panel, { title: "As it came", children: [
        /* @__PURE__ */ a3(Members, { of: headers }),
        /* @__PURE__ */ a3("pre", { class: "bytes", tabIndex: 0, children: jsonText(body) }),
        /* @__PURE__ */ a3("p", { children: [
          "SHA-256 ",
          /* @__PURE__ */ a3(Hash, { value: data.bodySha256 })
        ] })
      ] }) })
    ] })
  ] });
}

// src/console/components/confirmations.tsx
var WORDS = { executed: "it was executed", not_executed: "it was not executed", pending: "it is under way" };
function Confirmations({
  of: id,
  everyMs,
  awaited = false
}) {
  const { data, problem } = useLoaded(
    `/confirmations/${encodeURIComponent(id)}?pageSize=100`,
    everyMs
  );
  const said = data?.confirmations ?? [];
  if (said.length === 0 && !awaited) return null;
  return /* @__PURE__ */ a3(Panel, { title: "What providers have said since", children: [
    /* @__PURE__ */ a3(Problem, { text: problem }),
    data !== void 0 && said.length === 0 && /* @__PURE__ */ a3(Empty, { children: [
      "Nothing yet. Where ",
      /* @__PURE__ */ a3("a", { href: "/console/deliveries", children: "its deliveries" }),
      " have rules, a provider’s word appears here by itself, and a definite one closes the execution."
    ] }),
    /* @__PURE__ */ a3("ul", { class: "plain", children: said.map(({ confirmation }) => /* @__PURE__ */ a3(Word, { of: confirmation }, confirmation.confirmationId)) })
  ] });
}
function Word({
  of: { provider, eventId, ruleId, says, comparisons, receivedAt }
}) {
  const differing = comparisons.filter(({ holds }) => !holds);
  return /* @__PURE__ */ a3("li", { children: [
    /* @__PURE__ */ a3(Said, { text: provider }),
    " says that ",
    /* @__PURE__ */ a3("strong", { children: WORDS[says] }),
    " ",
    /* @__PURE__ */ a3(Time, { at: receivedAt }),
    " ",
    differing.length > 0 && /* @__PURE__ */ a3(Badge, { status: "contradicted" }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "Rule ",
      /* @__PURE__ */ a3("code", { children: oneLine(ruleId) }),
      ",",
      " ",
      /* @__PURE__ */ a3("a", { href: `/console/deliveries?provider=${encodeURIComponent(provider)}`, children: "delivery" }),
      " ",
      /* @__PURE__ */ a3("code", { children: oneLine(eventId) }),
      differing.length === 0 ? "." : ". It closes nothing, because it does not speak of the same:"
    ] }),
    differing.map(({ expression }) => /* @__PURE__ */ a3("pre", { tabIndex: 0, children: oneLine(expression) }, expression))
  ] });
}

// src/console/components/timeline.tsx
function Step({
  name,
  at,
  children
}) {
  return /* @__PURE__ */ a3("li", { children: [
    /* @__PURE__ */ a3("strong", { children: name }),
    " ",
    children,
    " ",
    /* @__PURE__ */ a3(Time, { at })
  ] });
}

// src/console/components/verification.tsx
function Verification({
  text: text2,
  approvals
}) {
  const [report, setReport] = d2();
  const [problem, setProblem] = d2();
  A2(() => {
    const verify = async () => {
      try {
        const [{ verifyEvidence }, { data: own }, ...humans] = await Promise.all([
          import("./verify-TUAIBOWV.js"),
          get("/.well-known/jwks.json"),
          ...[...new Set(approvals)].map((keyId) => get(`/keys/${encodeURIComponent(keyId)}`))
        ]);
        setReport(verifyEvidence(text2, [own, ...humans.map(({ data }) => data)]));
      } catch (error) {
        setProblem(error instanceof ApiProblem ? error.message : String(error));
      }
    };
    void verify();
  }, [text2, approvals.join(" ")]);
  return /* @__PURE__ */ a3(Panel, { title: "Verified in this page", children: [
    /* @__PURE__ */ a3(Problem, { text: problem }),
    report === void 0 && problem === void 0 && /* @__PURE__ */ a3("p", { class: "quiet", children: "Verifying…" }),
    report !== void 0 && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("p", { class: `verdict ${report.verdict}`, children: report.verdict === "valid" ? "✓ Every check holds" : report.verdict === "invalid" ? "✗ Not valid" : "? Cannot be checked" }),
      /* @__PURE__ */ a3("ul", { class: "checks", children: report.checks.map(({ name, problem: why }) => /* @__PURE__ */ a3("li", { children: [
        why === void 0 ? "✓" : "✗",
        " ",
        name,
        why === void 0 ? null : /* @__PURE__ */ a3(Said, { text: `: ${why}` })
      ] }, name)) }),
      /* @__PURE__ */ a3("details", { children: [
        /* @__PURE__ */ a3("summary", { children: "What this does not prove" }),
        /* @__PURE__ */ a3("ul", { children: [
          /* @__PURE__ */ a3("li", { children: "That the service is honest: this page and the keys came from it. Save the bundle, and check it with a verifier and keys of your own." }),
          report.notProven.map((sentence) => /* @__PURE__ */ a3("li", { children: sentence }, sentence))
        ] })
      ] })
    ] })
  ] });
}

// src/console/pages/without-record.tsx
var EVERY_MS = 5e3;
function WithoutRecord({ id }) {
  const { data: intent, problem } = useLoaded(
    `/execution-intents/${encodeURIComponent(id)}`,
    EVERY_MS
  );
  const refusal = useLoaded(`/refusal/${encodeURIComponent(id)}`);
  if (refusal.data !== void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Refused" }),
      /* @__PURE__ */ a3("p", { children: [
        "This transaction was refused. ",
        /* @__PURE__ */ a3("a", { href: `/console/refusals/${id}`, children: "See the refusal" }),
        "."
      ] })
    ] });
  if (intent === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Execution" }),
      /* @__PURE__ */ a3(Problem, { text: problem && "There is no execution with this id, or it is not yours to see." })
    ] });
  return /* @__PURE__ */ a3(Released, { intent });
}
function Released({ intent }) {
  const { businessTransactionId: id, action, target, inDoubt } = intent;
  const { data: submitted } = useLoaded(`/transactions/${id}`);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: action }) }),
      /* @__PURE__ */ a3(Badge, { status: inDoubt ? "IN_DOUBT" : intent.state })
    ] }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What is known", children: [
          /* @__PURE__ */ a3("p", { class: "sentence", children: [
            /* @__PURE__ */ a3(Said, { text: intent.callerId }),
            " had ",
            /* @__PURE__ */ a3(Said, { text: action }),
            " on ",
            /* @__PURE__ */ a3(Said, { text: target }),
            " released",
            " ",
            /* @__PURE__ */ a3(Time, { at: intent.releasedAt }),
            ". ",
            /* @__PURE__ */ a3(Standing, { of: intent })
          ] }),
          /* @__PURE__ */ a3("ol", { class: "timeline", children: [
            /* @__PURE__ */ a3(Step, { name: "Released", at: intent.releasedAt, children: "to the connector, once" }),
            intent.transitions.map(({ transition }) => /* @__PURE__ */ a3(Step, { name: outcomeOf(transition), at: transition.at, children: [
              "by ",
              /* @__PURE__ */ a3(Said, { text: transition.by }),
              transition.agreedWith !== void 0 && /* @__PURE__ */ a3($, { children: [
                ", as ",
                /* @__PURE__ */ a3(Said, { text: transition.agreedWith }),
                " had said"
              ] }),
              " ",
              transition.note !== void 0 && /* @__PURE__ */ a3(Said, { text: transition.note })
            ] }, transition.transitionId))
          ] })
        ] }),
        inDoubt ? /* @__PURE__ */ a3(Confirmations, { of: id, everyMs: EVERY_MS, awaited: true }) : /* @__PURE__ */ a3(Confirmations, { of: id }),
        inDoubt && /* @__PURE__ */ a3($, { children: [
          /* @__PURE__ */ a3(LookUp, { intent, parameters: submitted?.intent.parameters }),
          /* @__PURE__ */ a3(Close, { id, firstWord: intent.firstWord })
        ] })
      ] }),
      /* @__PURE__ */ a3("div", { children: [
        submitted !== void 0 && /* @__PURE__ */ a3(Panel, { title: "What was sent", children: /* @__PURE__ */ a3(
          Members,
          {
            of: { action, target, parameters: submitted.intent.parameters, policy: submitted.policy }
          }
        ) }),
        /* @__PURE__ */ a3(Panel, { title: "The signed release", children: /* @__PURE__ */ a3(Members, { of: intent.authorization.payload }) })
      ] })
    ] })
  ] });
}
function Standing({ of: { inDoubt, deadline, closedAt } }) {
  if (inDoubt)
    return /* @__PURE__ */ a3($, { children: [
      "The answer was due ",
      /* @__PURE__ */ a3(Time, { at: deadline }),
      ", and nobody knows whether it happened."
    ] });
  return closedAt === void 0 ? /* @__PURE__ */ a3($, { children: [
    "The answer is due: ",
    /* @__PURE__ */ a3(Countdown, { to: deadline }),
    "."
  ] }) : /* @__PURE__ */ a3($, { children: [
    "It was closed ",
    /* @__PURE__ */ a3(Time, { at: closedAt }),
    "."
  ] });
}
function outcomeOf({ from, to, resolution }) {
  return resolution === void 0 ? `${from} → ${to}` : `Closed as ${resolution.replace("_", " ").toLowerCase()}`;
}
function LookUp({
  intent,
  parameters
}) {
  const { businessTransactionId: id, action, target } = intent;
  const { data } = useLoaded("/external-connectors");
  const connector = data?.externalConnectors.find(({ capability }) => capability === action);
  return /* @__PURE__ */ a3(Panel, { title: "What to look up", children: [
    /* @__PURE__ */ a3("p", { children: [
      connector === void 0 ? /* @__PURE__ */ a3($, { children: [
        "At the system that carries out ",
        /* @__PURE__ */ a3(Said, { text: action }),
        ","
      ] }) : /* @__PURE__ */ a3($, { children: [
        "At the system behind ",
        /* @__PURE__ */ a3(Said, { text: connector.endpointUrl }),
        ","
      ] }),
      " ",
      "whether ",
      /* @__PURE__ */ a3(Said, { text: target }),
      " was acted on. It was released ",
      /* @__PURE__ */ a3(Time, { at: intent.releasedAt }),
      ", and given these, so one of them should be there:"
    ] }),
    /* @__PURE__ */ a3("ul", { class: "plain", children: [
      /* @__PURE__ */ a3("li", { children: [
        "businessTransactionId ",
        /* @__PURE__ */ a3(Hash, { value: id, whole: true })
      ] }),
      /* @__PURE__ */ a3("li", { children: [
        "authorizationId ",
        /* @__PURE__ */ a3(Hash, { value: intent.authorization.payload.authorizationId, whole: true })
      ] }),
      identifying(parameters).map(([name, value]) => /* @__PURE__ */ a3("li", { children: [
        /* @__PURE__ */ a3(Said, { text: name }),
        " ",
        /* @__PURE__ */ a3("code", { children: jsonText(value) })
      ] }, name))
    ] }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: connector?.readBack === true ? "The connector can be asked, and the service goes on asking: a definite answer closes the execution." : "Absence means something only once the system lists everything up to that time." })
  ] });
}
function identifying(parameters) {
  return Object.entries(parameters ?? {}).filter(([name, value]) => ["string", "number"].includes(typeof value) && `${name}${value}`.length <= 80).slice(0, 8);
}
function Close({ id, firstWord }) {
  const at = `${location.origin}/execution-intents/${id}`;
  const curl = `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d`;
  return /* @__PURE__ */ a3(Panel, { title: "Close it", children: [
    firstWord === void 0 ? /* @__PURE__ */ a3("p", { children: "Say what you found, with your key. It is final, and nothing is executed again." }) : /* @__PURE__ */ a3("p", { children: [
      /* @__PURE__ */ a3(Said, { text: firstWord.by }),
      " said ",
      /* @__PURE__ */ a3(Time, { at: firstWord.at }),
      " that it was",
      " ",
      firstWord.resolution.replace("_", " ").toLowerCase(),
      ": ",
      /* @__PURE__ */ a3(Said, { text: firstWord.note }),
      ". A second human must say the same, with a key of their own. That is final, and nothing is executed again."
    ] }),
    /* @__PURE__ */ a3(
      Command,
      {
        text: `${curl} '{"resolution": "EXECUTED", "note": "<what you found, and where>"}' \\
  ${at}/resolve`
      }
    ),
    /* @__PURE__ */ a3("p", { class: "quiet", children: [
      /* @__PURE__ */ a3("code", { children: "NOT_EXECUTED" }),
      " where it did not happen."
    ] })
  ] });
}

// src/console/pages/execution.tsx
function Execution2({ params }) {
  const id = params["id"] ?? "";
  const [found, setFound] = d2();
  useTitle(
    found !== void 0 && "record" in found ? oneLine(found.record.transaction.intent.action) : "Execution"
  );
  A2(() => {
    const load = async () => {
      try {
        const text2 = await getText(`/trust-records/${encodeURIComponent(id)}`);
        setFound({ text: text2, record: JSON.parse(text2) });
      } catch (error) {
        if (!isAborted(error))
          setFound({
            problem: problemText(error),
            missing: error instanceof ApiProblem && error.status === 404
          });
      }
    };
    void load();
  }, [id]);
  if (found === void 0) return /* @__PURE__ */ a3("h1", { children: "Execution" });
  if ("record" in found) return /* @__PURE__ */ a3(Shown, { id, ...found });
  return found.missing ? /* @__PURE__ */ a3(WithoutRecord, { id }) : /* @__PURE__ */ a3(Problem, { text: found.problem });
}
function Shown({ id, text: text2, record }) {
  const { transaction } = record;
  const [execution2] = record.executions;
  const approvals = Object.values(execution2?.decision.verifiedSignals ?? {}).flatMap(
    (signal) => signal.approvals ?? []
  );
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: transaction.intent.action }) }),
      /* @__PURE__ */ a3(Badge, { status: execution2?.status ?? "unknown" }),
      /* @__PURE__ */ a3(Time, { at: record.createdAt })
    ] }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Done, { by: transaction }),
        /* @__PURE__ */ a3(Course, { of: record, approvals }),
        /* @__PURE__ */ a3(Confirmations, { of: id }),
        /* @__PURE__ */ a3(
          Verification,
          {
            text: text2,
            approvals: approvals.map(({ payload }) => `${payload.approverId}:${payload.keyId}`)
          }
        )
      ] }),
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "Signals", children: [
          /* @__PURE__ */ a3(Members, { of: execution2?.decision.signals ?? {} }),
          Object.entries(execution2?.decision.verifiedSignals ?? {}).map(([name, { by }]) => /* @__PURE__ */ a3("p", { children: [
            /* @__PURE__ */ a3("code", { children: oneLine(name) }),
            " verified by ",
            by,
            "."
          ] }, name))
        ] }),
        execution2 !== void 0 && /* @__PURE__ */ a3(Panel, { title: "What the connector reported", children: [
          /* @__PURE__ */ a3(Members, { of: execution2.evidence.result }),
          /* @__PURE__ */ a3(Members, { of: execution2.evidence.connector })
        ] }),
        /* @__PURE__ */ a3(Take, { ...{ id, text: text2, record } })
      ] })
    ] })
  ] });
}
function Done({ by: transaction }) {
  return /* @__PURE__ */ a3(Panel, { title: "What was done", children: [
    /* @__PURE__ */ a3("p", { class: "sentence", children: [
      /* @__PURE__ */ a3(Said, { text: transaction.metadata.submittedBy }),
      " did ",
      /* @__PURE__ */ a3(Said, { text: transaction.intent.action }),
      " on",
      " ",
      /* @__PURE__ */ a3(Said, { text: transaction.intent.target }),
      transaction.authority.principalId === transaction.metadata.submittedBy ? null : /* @__PURE__ */ a3($, { children: [
        ", in the name of ",
        /* @__PURE__ */ a3(Said, { text: transaction.authority.principalId })
      ] }),
      "."
    ] }),
    /* @__PURE__ */ a3(Members, { of: transaction.intent.parameters })
  ] });
}
function Course({
  of: record,
  approvals
}) {
  const { transaction } = record;
  const [execution2] = record.executions;
  return /* @__PURE__ */ a3(Panel, { title: "How it went", children: /* @__PURE__ */ a3("ol", { class: "timeline", children: [
    /* @__PURE__ */ a3(Step, { name: "Submitted", at: transaction.createdAt, children: [
      "by ",
      /* @__PURE__ */ a3(Said, { text: transaction.metadata.submittedBy })
    ] }),
    execution2 !== void 0 && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3(Step, { name: "Decided", at: execution2.decision.evaluatedAt, children: [
        execution2.decision.outcome.toLowerCase(),
        " by rule",
        " ",
        /* @__PURE__ */ a3("code", { children: execution2.decision.matchedRuleId ?? "none" }),
        " of",
        " ",
        /* @__PURE__ */ a3(
          "a",
          {
            href: `/console/policies/${encodeURIComponent(transaction.policy.name)}/${encodeURIComponent(transaction.policy.version)}`,
            children: /* @__PURE__ */ a3(Said, { text: `${transaction.policy.name} ${transaction.policy.version}` })
          }
        ),
        ": ",
        /* @__PURE__ */ a3(Said, { text: execution2.decision.reason })
      ] }),
      approvals.map(({ payload }) => /* @__PURE__ */ a3(Step, { name: "Approved", at: payload.issuedAt, children: [
        "by ",
        /* @__PURE__ */ a3(Said, { text: payload.approverId }),
        " with key ",
        /* @__PURE__ */ a3(Said, { text: payload.keyId })
      ] }, `${payload.approverId}:${payload.keyId}`)),
      /* @__PURE__ */ a3(Step, { name: "Authorized", at: record.authorization.payload.authorizedAt, children: "once, for this transaction" }),
      /* @__PURE__ */ a3(Step, { name: "Sent", at: execution2.startedAt, children: "to the connector" }),
      /* @__PURE__ */ a3(Step, { name: "Reported", at: execution2.evidence.executedAt, children: execution2.evidence.success ? "as done" : "as failed" })
    ] }),
    record.verifications.map(({ status, verifiedAt, message }) => /* @__PURE__ */ a3(Step, { name: "Verified by the service", at: verifiedAt, children: [
      status.toLowerCase(),
      ": ",
      /* @__PURE__ */ a3(Said, { text: message })
    ] }, verifiedAt)),
    record.receipts.map((receipt) => /* @__PURE__ */ a3(
      Step,
      {
        name: "Receipt",
        at: receipt.issuedAt ?? receipt.signedAt ?? record.createdAt,
        children: /* @__PURE__ */ a3(Hash, { value: receipt.receiptHash })
      },
      receipt.receiptId
    ))
  ] }) });
}
function Take({ id, text: text2, record }) {
  return /* @__PURE__ */ a3(Panel, { title: "Take it with you", children: [
    /* @__PURE__ */ a3("ul", { class: "plain", children: [
      /* @__PURE__ */ a3("li", { children: [
        "Record hash ",
        /* @__PURE__ */ a3(Hash, { value: record.trustRecordHash })
      ] }),
      /* @__PURE__ */ a3("li", { children: [
        "Id ",
        /* @__PURE__ */ a3(Hash, { value: id, whole: true })
      ] }),
      /* @__PURE__ */ a3("li", { children: [
        /* @__PURE__ */ a3("a", { href: `/trust-records/${id}?bundle`, download: `${id}.bundle.json`, children: "Bundle" }),
        " ",
        "for an offline check: record, receipt, approvals, policy, proof of the log"
      ] }),
      /* @__PURE__ */ a3("li", { children: [
        /* @__PURE__ */ a3("button", { type: "button", onClick: () => print(), children: "Print" }),
        " ",
        /* @__PURE__ */ a3(Copy, { text: text2, label: "Copy the record" })
      ] })
    ] }),
    /* @__PURE__ */ a3(
      Command,
      {
        text: `curl -sS -H "Authorization: Bearer $KEY" ${location.origin}/trust-records/${id} > mine/record.json`
      }
    )
  ] });
}

// src/console/pages/executions.tsx
function Executions({ query }) {
  const wanted = (query.get("contains") ?? "").toLowerCase();
  const path = listPath("/transactions", query, ["callerId", "cursor"]);
  const loaded = useLoaded(wanted === "" ? path : largest2(path), 1e4);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Executions" }),
    /* @__PURE__ */ a3("div", { class: "filters", children: [
      /* @__PURE__ */ a3(TextFilter, { label: "Caller", name: "callerId" }),
      /* @__PURE__ */ a3(TextFilter, { label: "On this page", name: "contains", placeholder: "action, target, policy" })
    ] }),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: (rows) => rows.filter((row) => textOf(row).includes(wanted)),
        empty: wanted === "" ? query.has("callerId") ? "This caller has submitted nothing." : "Nothing was executed yet. The first start prints a curl line to paste." : "Nothing on this page fits the filter. Older ones are on the next pages.",
        children: (rows) => /* @__PURE__ */ a3(
          Table,
          {
            caption: "Executions, newest first",
            rows,
            keyOf: ({ businessTransactionId }) => businessTransactionId,
            hrefOf: ({ businessTransactionId }) => `/console/executions/${businessTransactionId}`,
            columns: [
              {
                title: "Action",
                cell: ({ intent }) => /* @__PURE__ */ a3(Said, { text: `${intent.action} → ${intent.target}` })
              },
              { title: "Caller", cell: ({ metadata }) => /* @__PURE__ */ a3(Said, { text: metadata.submittedBy }) },
              {
                title: "Policy",
                minor: true,
                cell: ({ policy }) => /* @__PURE__ */ a3(Said, { text: `${policy.name} ${policy.version}` })
              },
              { title: "When", cell: ({ createdAt }) => /* @__PURE__ */ a3(Time, { at: createdAt }) }
            ]
          }
        )
      }
    )
  ] });
}
function largest2(path) {
  return `${path}${path.includes("?") ? "&" : "?"}pageSize=100`;
}
function textOf({ intent, metadata, policy, businessTransactionId }) {
  return [
    intent.action,
    intent.target,
    metadata.submittedBy,
    metadata.correlationId,
    policy.name,
    businessTransactionId
  ].join(" ").toLowerCase();
}

// src/console/components/intents.tsx
function IntentTable({
  caption,
  intents
}) {
  return /* @__PURE__ */ a3(
    Table,
    {
      caption,
      rows: intents,
      keyOf: ({ businessTransactionId }) => businessTransactionId,
      hrefOf: ({ businessTransactionId }) => `/console/executions/${businessTransactionId}`,
      columns: [
        { title: "Action", cell: ({ action, target }) => /* @__PURE__ */ a3(Said, { text: `${action} → ${target}` }) },
        { title: "Caller", cell: ({ callerId }) => /* @__PURE__ */ a3(Said, { text: callerId }) },
        { title: "State", cell: ({ state, inDoubt }) => /* @__PURE__ */ a3(Badge, { status: inDoubt ? "IN_DOUBT" : state }) },
        { title: "Released", cell: ({ releasedAt }) => /* @__PURE__ */ a3(Time, { at: releasedAt }) },
        { title: "Answer due", minor: true, cell: ({ deadline }) => /* @__PURE__ */ a3(Countdown, { to: deadline }) }
      ]
    }
  );
}

// src/console/pages/in-doubt.tsx
function InDoubt({ query }) {
  const loaded = useLoaded(
    listPath("/execution-intents/unfinalized", query, ["cursor"]),
    5e3
  );
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "In doubt" }),
    /* @__PURE__ */ a3("p", { children: "The service released these executions and has no answer that it could sign. Find out at the system that carries the action out whether it happened, then close the execution with what you found. Nothing here is tried again." }),
    /* @__PURE__ */ a3(Listed, { loaded, rowsOf: ({ intents }) => intents, empty: "Every execution has its outcome.", children: (rows) => /* @__PURE__ */ a3(IntentTable, { caption: "Executions without an outcome", intents: rows }) })
  ] });
}

// src/console/components/requests.tsx
function RequestTable({
  caption,
  requests
}) {
  return /* @__PURE__ */ a3(
    Table,
    {
      caption,
      rows: requests,
      keyOf: ({ request }) => request.requestId,
      hrefOf: ({ request }) => `/console/requests/${request.requestId}`,
      columns: [
        {
          title: "Action",
          cell: ({ request }) => /* @__PURE__ */ a3(Said, { text: `${request.capability} → ${request.target}` })
        },
        { title: "Asked by", cell: ({ request }) => /* @__PURE__ */ a3(Said, { text: request.requestedBy }) },
        { title: "Status", cell: ({ status }) => /* @__PURE__ */ a3(Badge, { status }) },
        {
          title: "Who can sign",
          minor: true,
          cell: ({ status, eligible, missing }) => status === "PENDING" ? /* @__PURE__ */ a3(Said, { text: `${eligible.join(", ")} (${missing} needed)` }) : ""
        },
        {
          title: "When",
          cell: ({ status, request, expiresAt }) => ["PENDING", "APPROVED"].includes(status) ? /* @__PURE__ */ a3(Countdown, { to: expiresAt }) : /* @__PURE__ */ a3(Time, { at: request.createdAt })
        }
      ]
    }
  );
}

// src/console/pages/inbox.tsx
var REQUESTS_EVERY_MS = 1e4;
var REST_EVERY_MS = 12e4;
function Inbox({ me }) {
  const mine = me.approverId === null ? "status=PENDING" : "status=PENDING&waitingFor=me";
  const requests = useLoaded(`/approval-requests?${mine}`, REQUESTS_EVERY_MS);
  const changes = useLoaded("/changes?status=PENDING_APPROVAL", REST_EVERY_MS);
  const inDoubt = useLoaded("/execution-intents/unfinalized", REST_EVERY_MS);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Inbox" }),
    /* @__PURE__ */ a3(Panel, { title: me.approverId === null ? "Approval requests" : "Approval requests that you can sign", children: /* @__PURE__ */ a3(
      Listed,
      {
        loaded: requests,
        rowsOf: (reply) => reply.requests.toSorted((a4, b) => Date.parse(a4.expiresAt) - Date.parse(b.expiresAt)),
        empty: "Nobody waits for an approval. Requests appear here by themselves.",
        children: (rows) => /* @__PURE__ */ a3(RequestTable, { caption: "Approval requests that wait", requests: rows })
      }
    ) }),
    /* @__PURE__ */ a3(Panel, { title: "Changes that another human must resolve", children: /* @__PURE__ */ a3(
      Listed,
      {
        loaded: changes,
        rowsOf: (reply) => reply.changes.filter(({ proposedBy }) => proposedBy !== me.callerId),
        empty: "No change waits for you. What you propose yourself, somebody else resolves.",
        children: (rows) => /* @__PURE__ */ a3(ChangeTable, { caption: "Changes that wait", changes: rows })
      }
    ) }),
    /* @__PURE__ */ a3(Panel, { title: "Executions in doubt", children: /* @__PURE__ */ a3(
      Listed,
      {
        loaded: inDoubt,
        rowsOf: (reply) => reply.intents.filter((intent) => intent.inDoubt),
        empty: "No execution is in doubt.",
        children: (rows) => /* @__PURE__ */ a3(IntentTable, { caption: "Executions in doubt", intents: rows })
      }
    ) })
  ] });
}

// src/console/components/chart.tsx
var WIDTH = 600;
var HEIGHT = 120;
var SECONDS = 120;
function Chart({
  label,
  seconds,
  lines
}) {
  const last = seconds.at(-1)?.at ?? 0;
  const max = Math.max(1, ...seconds.flatMap((second) => lines.map(({ of: of2 }) => of2(second))));
  const x2 = (at) => WIDTH - (last - at) / SECONDS * WIDTH;
  const y3 = (value) => HEIGHT - value / max * (HEIGHT - 4) - 2;
  return /* @__PURE__ */ a3("figure", { class: "chart", children: [
    /* @__PURE__ */ a3("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, preserveAspectRatio: "none", children: lines.map(({ name, of: of2 }, i3) => /* @__PURE__ */ a3(
      "polyline",
      {
        class: `line line-${i3}`,
        points: seconds.map((second) => `${x2(second.at).toFixed(1)},${y3(of2(second)).toFixed(1)}`).join(" ")
      },
      name
    )) }),
    /* @__PURE__ */ a3("figcaption", { children: [
      lines.map(({ name }, i3) => /* @__PURE__ */ a3("span", { class: `key key-${i3}`, children: name }, name)),
      /* @__PURE__ */ a3("span", { children: [
        "highest ",
        Math.round(max * 10) / 10
      ] })
    ] })
  ] });
}

// src/console/pages/live.tsx
var SECONDS_SHOWN = 120;
function Live() {
  const [live, setLive] = d2();
  const [problem, setProblem] = d2();
  const [paused, setPaused] = d2(false);
  const isPaused = T2(false);
  isPaused.current = paused;
  A2(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const follow = async () => {
      let after = 0;
      let seconds = [];
      while (!signal.aborted) {
        try {
          const { data } = await get(`/console/data/live?after=${after}`, { signal, wait: 5 });
          seconds = [...seconds, ...data.seconds].slice(-SECONDS_SHOWN);
          after = seconds.at(-1)?.at ?? after;
          setProblem(void 0);
          if (!isPaused.current) setLive({ ...data, seconds });
        } catch (error) {
          if (isAborted(error)) return;
          setProblem(problemText(error));
          await new Promise((resolve) => setTimeout(resolve, 3e3));
        }
      }
    };
    void follow();
    return () => leaving.abort();
  }, []);
  const last = live?.seconds.at(-1);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: "Live" }),
      /* @__PURE__ */ a3("button", { type: "button", onClick: () => setPaused(!paused), "aria-pressed": paused, children: paused ? "Go on" : "Pause" })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    /* @__PURE__ */ a3("dl", { class: "figures", children: [
      /* @__PURE__ */ a3(Figure, { name: "executions in the last second", value: last?.executed }),
      /* @__PURE__ */ a3(Figure, { name: "refused in it", value: last?.refused }),
      /* @__PURE__ */ a3(Figure, { name: "p99, ms", value: last?.p99Ms }),
      /* @__PURE__ */ a3(Figure, { name: "requests waiting", value: live?.queue }),
      /* @__PURE__ */ a3(Figure, { name: "in doubt", value: live?.inDoubt }),
      /* @__PURE__ */ a3(Figure, { name: "evidence not stored yet", value: live?.pendingEvidence })
    ] }),
    /* @__PURE__ */ a3(Panel, { title: "Executions a second", children: /* @__PURE__ */ a3(
      Chart,
      {
        label: "Executions and refusals, each second of the last two minutes",
        seconds: live?.seconds ?? [],
        lines: [
          { name: "executed", of: ({ executed }) => executed },
          { name: "refused", of: ({ refused }) => refused },
          { name: "failed", of: ({ failed }) => failed }
        ]
      }
    ) }),
    /* @__PURE__ */ a3(Panel, { title: "Time of a reply, ms", children: /* @__PURE__ */ a3(
      Chart,
      {
        label: "Median and 99th percentile of the time of an execution",
        seconds: live?.seconds ?? [],
        lines: [
          { name: "p50", of: ({ p50Ms }) => p50Ms },
          { name: "p99", of: ({ p99Ms }) => p99Ms }
        ]
      }
    ) }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: "Of the instance that answers this page. All instances together are in the metrics (METRICS_PORT)." })
  ] });
}
function Figure({ name, value }) {
  return /* @__PURE__ */ a3("div", { children: [
    /* @__PURE__ */ a3("dt", { children: name }),
    /* @__PURE__ */ a3("dd", { children: value === void 0 ? "–" : Math.round(value * 10) / 10 })
  ] });
}

// src/console/pages/passkey.tsx
function MakePasskey({ me }) {
  const [made, setMade] = d2();
  const [problem, setProblem] = d2();
  const [busy, setBusy] = d2(false);
  const { approverId } = me;
  const submit = async (event) => {
    event.preventDefault();
    const purpose = fieldOf(event.currentTarget, "purpose");
    const keyId = fieldOf(event.currentTarget, "keyId");
    setBusy(true);
    setProblem(void 0);
    try {
      const owner = purpose === "approve" ? approverId ?? "" : me.callerId;
      setMade({ purpose, keyId, enrolment: await makePasskey(owner, keyId) });
    } catch (error) {
      setProblem(problemOfPasskey(error) ?? problemText(error));
    } finally {
      setBusy(false);
    }
  };
  if (me.credentialHolderType !== "USER")
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "A passkey of yours" }),
      /* @__PURE__ */ a3("p", { children: "Passkeys are for humans: yours is the key of a program (credentialHolderType), which signs nothing." })
    ] });
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "A passkey of yours" }),
    made === void 0 ? /* @__PURE__ */ a3(Panel, { title: "Make one", children: [
      /* @__PURE__ */ a3("p", { children: "Your phone, your computer or a security key keeps it, and signs once it has verified that it is you. It is asked twice: to make the passkey, and to prove that it is there." }),
      /* @__PURE__ */ a3("form", { onSubmit: (event) => void submit(event), children: [
        /* @__PURE__ */ a3("label", { children: [
          "What it is for",
          /* @__PURE__ */ a3("select", { name: "purpose", children: [
            approverId !== null && /* @__PURE__ */ a3("option", { value: "approve", children: [
              "to approve actions, as ",
              approverId
            ] }),
            /* @__PURE__ */ a3("option", { value: "resolve", children: [
              "to resolve changes, as ",
              me.callerId
            ] })
          ] })
        ] }),
        /* @__PURE__ */ a3("label", { children: [
          "A name for it, such as ",
          /* @__PURE__ */ a3("code", { children: "phone" }),
          /* @__PURE__ */ a3(
            "input",
            {
              name: "keyId",
              required: true,
              pattern: "[A-Za-z0-9._@\\-]{1,64}",
              title: "1 to 64 letters, digits or . _ @ -"
            }
          )
        ] }),
        /* @__PURE__ */ a3("button", { type: "submit", class: "primary", disabled: busy, children: busy ? "Asking your device…" : "Make a passkey" }),
        /* @__PURE__ */ a3(Problem, { text: problem })
      ] }),
      approverId === null && /* @__PURE__ */ a3("p", { class: "quiet", children: "To approve actions, your key needs an approverId: the operator adds it to the configured caller." })
    ] }) : made.purpose === "approve" ? /* @__PURE__ */ a3(Proposal, { approverId: approverId ?? "", keyId: made.keyId, enrolment: made.enrolment }) : /* @__PURE__ */ a3(ForOperator, { callerId: me.callerId, enrolment: made.enrolment })
  ] });
}
function Proposal({
  approverId,
  keyId,
  enrolment
}) {
  const body = { action: "add", approverId, keyId, ...enrolment, reason: `A passkey of ${approverId}.` };
  return /* @__PURE__ */ a3(Panel, { title: "Have it enrolled", children: [
    /* @__PURE__ */ a3("p", { children: "It approves nothing yet. One human proposes it, with a key, and another one approves that change: you may be one of them." }),
    /* @__PURE__ */ a3(
      Command,
      {
        text: `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${location.origin}/approvers/changes -d '${JSON.stringify(body)}'`
      }
    ),
    /* @__PURE__ */ a3("details", { children: [
      /* @__PURE__ */ a3("summary", { children: "What is proposed" }),
      /* @__PURE__ */ a3(Members, { of: body })
    ] }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: "The page does not keep it. Copy the command before you leave." })
  ] });
}
function ForOperator({
  callerId,
  enrolment: { publicKeyPem, passkey }
}) {
  const { proof: _3, ...kept } = passkey;
  return /* @__PURE__ */ a3(Panel, { title: "Give it to the operator", children: [
    /* @__PURE__ */ a3("p", { children: [
      "It resolves nothing yet. The operator adds this to ",
      /* @__PURE__ */ a3("code", { children: callerId }),
      " in SERVICE_API_KEYS, and must know that it comes from you:"
    ] }),
    /* @__PURE__ */ a3(Command, { text: JSON.stringify({ stepUpPasskey: { publicKeyPem, ...kept } }, void 0, 2) }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: "The page does not keep it. Copy it before you leave." })
  ] });
}

// src/console/pages/policies.tsx
var hrefOf = ({ name, version }) => `/console/policies/${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
function Policies({ query }) {
  const shown = query.get("shown") === "all" ? "/policies" : "/policies/in-effect";
  const loaded = useLoaded(`${shown}?pageSize=100`);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Policies" }),
    /* @__PURE__ */ a3("div", { class: "filters", children: /* @__PURE__ */ a3(Choice, { label: "Shown", name: "shown", values: ["all"] }) }),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: ({ policies }) => policies,
        empty: "No policy is in effect. Every execution is rejected until two humans have approved one.",
        children: (rows) => /* @__PURE__ */ a3(
          Table,
          {
            caption: "Policies",
            rows,
            keyOf: ({ name, version }) => `${name} ${version}`,
            hrefOf,
            columns: [
              { title: "Policy", cell: ({ name, version }) => /* @__PURE__ */ a3(Said, { text: `${name} ${version}` }) },
              { title: "For", cell: ({ capabilities }) => /* @__PURE__ */ a3(Said, { text: capabilities.join(", ") }) },
              {
                title: "What it is for",
                minor: true,
                cell: ({ description }) => /* @__PURE__ */ a3(Said, { text: description })
              },
              { title: "Status", cell: ({ status }) => /* @__PURE__ */ a3(Badge, { status }) },
              {
                title: "Approved by",
                minor: true,
                cell: ({ approvedBy = "" }) => /* @__PURE__ */ a3(Said, { text: approvedBy })
              },
              {
                title: "In the place of",
                minor: true,
                cell: ({ replaces = [] }) => /* @__PURE__ */ a3(Said, { text: replaces.join(", ") })
              }
            ]
          }
        )
      }
    )
  ] });
}
function Policy({ params }) {
  const { name = "", version = "" } = params;
  const { data, problem } = useLoaded(
    `/policies/${encodeURIComponent(name)}/${encodeURIComponent(version)}`
  );
  useTitle(oneLine(`${name} ${version}`));
  if (data === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: `${name} ${version}` }) }),
      /* @__PURE__ */ a3(Problem, { text: problem })
    ] });
  const { document: document2, approvedBy, approvedAt, approvedByChange } = data;
  const { retiredBy, retiredAt, retiredByChange, replacedBy } = data;
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: `${name} ${version}` }) }),
      /* @__PURE__ */ a3(Badge, { status: data.status })
    ] }),
    /* @__PURE__ */ a3("p", { children: /* @__PURE__ */ a3(Said, { text: data.description }) }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: /* @__PURE__ */ a3(Panel, { title: "Rules, in order: the first that fits decides", children: [
        /* @__PURE__ */ a3("ol", { class: "rules", children: document2.rules.map((rule) => /* @__PURE__ */ a3("li", { children: [
          /* @__PURE__ */ a3("strong", { children: oneLine(rule.id) }),
          " ",
          /* @__PURE__ */ a3(Badge, { status: rule.outcome === "approve" ? "APPROVED" : "REJECTED" }),
          /* @__PURE__ */ a3("pre", { tabIndex: 0, children: oneLine(rule.when) }),
          /* @__PURE__ */ a3(Said, { text: rule.reason })
        ] }, rule.id)) }),
        /* @__PURE__ */ a3("p", { class: "quiet", children: "Where no rule fits, the execution is rejected." })
      ] }) }),
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "Signals", children: /* @__PURE__ */ a3(Members, { of: document2.signals }) }),
        /* @__PURE__ */ a3(Panel, { title: "Verified, and not taken on the caller's word", children: document2.verify === void 0 ? /* @__PURE__ */ a3(Empty, { children: "Nothing: every signal is as the caller declares it." }) : /* @__PURE__ */ a3(Members, { of: document2.verify }) }),
        /* @__PURE__ */ a3(Panel, { title: "Bound to the action", children: document2.bindings === void 0 ? /* @__PURE__ */ a3(Empty, { children: "Nothing." }) : /* @__PURE__ */ a3(Members, { of: document2.bindings }) }),
        /* @__PURE__ */ a3(Panel, { title: "Where it comes from", children: [
          /* @__PURE__ */ a3("p", { children: [
            "Content ",
            /* @__PURE__ */ a3(Hash, { value: data.contentHash })
          ] }),
          approvedBy !== void 0 && /* @__PURE__ */ a3("p", { children: [
            "Approved by ",
            /* @__PURE__ */ a3(Said, { text: approvedBy }),
            " ",
            approvedAt !== void 0 && /* @__PURE__ */ a3(Time, { at: approvedAt }),
            approvedByChange !== void 0 && /* @__PURE__ */ a3($, { children: [
              ", in ",
              /* @__PURE__ */ a3("a", { href: `/console/changes/policy/${approvedByChange}`, children: "this change" })
            ] })
          ] }),
          retiredBy !== void 0 && /* @__PURE__ */ a3("p", { children: [
            "Retired by ",
            /* @__PURE__ */ a3(Said, { text: retiredBy }),
            " ",
            retiredAt !== void 0 && /* @__PURE__ */ a3(Time, { at: retiredAt }),
            ", in",
            " ",
            /* @__PURE__ */ a3("a", { href: `/console/changes/policy/${retiredByChange}`, children: "this change" }),
            replacedBy !== void 0 && /* @__PURE__ */ a3($, { children: [
              "; ",
              /* @__PURE__ */ a3("a", { href: hrefOf({ name, version: replacedBy }), children: [
                "version ",
                oneLine(replacedBy)
              ] }),
              " took its place"
            ] }),
            ". It rejects every execution."
          ] })
        ] })
      ] })
    ] })
  ] });
}

// src/console/pages/refusals.tsx
function Refusals({ query }) {
  const loaded = useLoaded(listPath("/refusals", query, ["cursor"]), 1e4);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Refusals" }),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: ({ refusals }) => refusals,
        empty: "Nothing was refused. A policy that rejects, or a signal that does not hold, leaves a signed refusal here.",
        children: (rows) => /* @__PURE__ */ a3(
          Table,
          {
            caption: "Refusals, newest first",
            rows,
            keyOf: ({ businessTransactionId }) => businessTransactionId,
            hrefOf: ({ businessTransactionId }) => `/console/refusals/${businessTransactionId}`,
            columns: [
              {
                title: "Action",
                cell: ({ evaluatedIntent }) => /* @__PURE__ */ a3(Said, { text: `${evaluatedIntent.action} → ${evaluatedIntent.target}` })
              },
              { title: "Caller", cell: ({ submittedBy }) => /* @__PURE__ */ a3(Said, { text: submittedBy }) },
              { title: "Reason", cell: ({ decision }) => /* @__PURE__ */ a3(Said, { text: decision.reason }) },
              {
                title: "Policy",
                minor: true,
                cell: ({ decision }) => /* @__PURE__ */ a3(Said, { text: `${decision.policy.name} ${decision.policy.version}` })
              },
              { title: "When", cell: ({ createdAt }) => /* @__PURE__ */ a3(Time, { at: createdAt }) }
            ]
          }
        )
      }
    )
  ] });
}
function Refusal({ params }) {
  const id = params["id"] ?? "";
  const { data, problem } = useLoaded(`/refusal/${encodeURIComponent(id)}`);
  useTitle(data === void 0 ? "Refusal" : oneLine(`Refused: ${data.evaluatedIntent.action}`));
  if (data === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Refusal" }),
      /* @__PURE__ */ a3(Problem, { text: problem })
    ] });
  const { decision, evaluatedIntent, mismatches } = data;
  const lacksApproval = mismatches.some(({ source }) => source === "approval");
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: [
        "Refused: ",
        /* @__PURE__ */ a3(Said, { text: evaluatedIntent.action })
      ] }),
      /* @__PURE__ */ a3(Time, { at: data.createdAt })
    ] }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "Why", children: [
          /* @__PURE__ */ a3("p", { class: "sentence", children: /* @__PURE__ */ a3(Said, { text: decision.reason }) }),
          /* @__PURE__ */ a3("p", { children: [
            "Rule ",
            /* @__PURE__ */ a3("code", { children: decision.matchedRuleId ?? "none" }),
            " of",
            " ",
            /* @__PURE__ */ a3(
              "a",
              {
                href: `/console/policies/${encodeURIComponent(decision.policy.name)}/${encodeURIComponent(decision.policy.version)}`,
                children: /* @__PURE__ */ a3(Said, { text: `${decision.policy.name} ${decision.policy.version}` })
              }
            )
          ] }),
          mismatches.length > 0 && /* @__PURE__ */ a3(
            Table,
            {
              caption: "What was declared and does not hold",
              rows: mismatches,
              keyOf: ({ signal }) => signal,
              columns: [
                { title: "Signal", cell: ({ signal }) => /* @__PURE__ */ a3(Said, { text: signal }) },
                { title: "Declared", cell: ({ declared }) => /* @__PURE__ */ a3("code", { children: jsonText(declared) }) },
                { title: "Holds", cell: ({ verified: verified2 }) => /* @__PURE__ */ a3("code", { children: jsonText(verified2) }) },
                { title: "By", cell: ({ source }) => /* @__PURE__ */ a3(Said, { text: source }) }
              ]
            }
          )
        ] }),
        lacksApproval && /* @__PURE__ */ a3(Panel, { title: "Ask for the approval", children: [
          /* @__PURE__ */ a3("p", { children: "It was refused for want of approvals. The caller may ask for them, then execute the same under a new id:" }),
          /* @__PURE__ */ a3(
            Command,
            {
              text: `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"fromRefusal": "${id}"}' ${location.origin}/approval-requests`
            }
          )
        ] })
      ] }),
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What was asked for", children: [
          /* @__PURE__ */ a3("p", { children: [
            /* @__PURE__ */ a3(Said, { text: data.submittedBy }),
            " wanted ",
            /* @__PURE__ */ a3(Said, { text: evaluatedIntent.action }),
            " on",
            " ",
            /* @__PURE__ */ a3(Said, { text: evaluatedIntent.target }),
            "."
          ] }),
          /* @__PURE__ */ a3(Members, { of: evaluatedIntent.parameters })
        ] }),
        /* @__PURE__ */ a3(Panel, { title: "Signals", children: /* @__PURE__ */ a3(Members, { of: decision.signals }) }),
        /* @__PURE__ */ a3(Panel, { title: "Evidence", children: /* @__PURE__ */ a3("p", { children: [
          "Refusal hash ",
          /* @__PURE__ */ a3(Hash, { value: data.refusalRecordHash })
        ] }) })
      ] })
    ] })
  ] });
}

// node_modules/qr/index.js
var MAX_OUTPUT_SIZE = 1024;
var MAX_COMPACT_OUTPUT_SIZE = MAX_OUTPUT_SIZE * 4;
var BYTES = /* @__PURE__ */ (() => {
  const res = [];
  for (let ver = 1; ver <= 40; ver++) {
    let bits = (16 * ver + 128) * ver + 64;
    if (ver >= 2) {
      const align = Math.floor(ver / 7) + 2;
      bits -= (25 * align - 10) * align - 55;
      if (ver >= 7)
        bits -= 36;
    }
    res.push(bits >>> 3);
  }
  return res;
})();
var ECC_LEVELS = ["low", "medium", "quartile", "high"];
var WORDS_PER_BLOCK = {
  low: [
    7,
    10,
    15,
    20,
    26,
    18,
    20,
    24,
    30,
    18,
    20,
    24,
    26,
    30,
    22,
    24,
    28,
    30,
    28,
    28,
    28,
    28,
    30,
    30,
    26,
    28,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30
  ],
  medium: [
    10,
    16,
    26,
    18,
    24,
    16,
    18,
    22,
    22,
    26,
    30,
    22,
    22,
    24,
    24,
    28,
    28,
    26,
    26,
    26,
    26,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28,
    28
  ],
  quartile: [
    13,
    22,
    18,
    26,
    18,
    24,
    18,
    22,
    20,
    24,
    28,
    26,
    24,
    20,
    30,
    24,
    28,
    28,
    26,
    30,
    28,
    30,
    30,
    30,
    30,
    28,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30
  ],
  high: [
    17,
    28,
    22,
    16,
    22,
    28,
    26,
    26,
    24,
    28,
    24,
    28,
    22,
    24,
    24,
    30,
    28,
    28,
    26,
    28,
    30,
    24,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30,
    30
  ]
};
var ECC_BLOCKS = {
  low: [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25],
  medium: [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49],
  quartile: [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68],
  high: [1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81]
};
var EC_CODE = { low: 1, medium: 0, quartile: 3, high: 2 };
var ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
function alignmentPatterns(ver) {
  ver = asVersion(ver);
  if (ver === 1)
    return [];
  const last = 21 + 4 * (ver - 1) - 7;
  const count = Math.ceil((last - 6) / 28);
  let interval = Math.floor((last - 6) / count);
  if (interval % 2)
    interval += 1;
  else if ((last - 6) % count * 2 >= count)
    interval += 2;
  const res = [6];
  for (let m3 = 1; m3 < count; m3++)
    res.push(last - (count - m3) * interval);
  res.push(last);
  return res;
}
function formatBits(ecc, mask) {
  const data = EC_CODE[ecc] << 3 | mask;
  let d3 = data;
  for (let i3 = 0; i3 < 10; i3++)
    d3 = d3 << 1 ^ (d3 >> 9) * 1335;
  return (data << 10 | d3) ^ 21522;
}
function versionBits(ver) {
  let d3 = ver;
  for (let i3 = 0; i3 < 12; i3++)
    d3 = d3 << 1 ^ (d3 >> 11) * 7973;
  return ver << 12 | d3;
}
var MODE_BITS = { numeric: 1, alphanumeric: 2, byte: 4 };
var LENGTH_BITS = {
  numeric: [10, 12, 14],
  alphanumeric: [9, 11, 13],
  byte: [8, 16, 16]
};
var GF256 = /* @__PURE__ */ (() => {
  const exp = new Uint8Array(510);
  const log = new Uint8Array(256);
  for (let i3 = 0, x2 = 1; i3 < 255; i3++) {
    exp[i3] = exp[i3 + 255] = x2;
    log[x2] = i3;
    x2 <<= 1;
    if (x2 & 256)
      x2 ^= 285;
  }
  return { exp, log };
})();
function rsGenerator(eccWords) {
  const { exp: EXP, log: LOG } = GF256;
  const gen = new Uint8Array(eccWords);
  gen[eccWords - 1] = 1;
  for (let i3 = 0, root = 1; i3 < eccWords; i3++) {
    for (let j2 = 0; j2 < eccWords; j2++) {
      const c3 = gen[j2];
      gen[j2] = (c3 ? EXP[LOG[c3] + LOG[root]] : 0) ^ (j2 + 1 < eccWords ? gen[j2 + 1] : 0);
    }
    root = EXP[LOG[root] + 1];
  }
  return gen;
}
var RS_CACHE = [];
function rsCached(eccWords) {
  let cached = RS_CACHE[eccWords];
  if (cached !== void 0)
    return cached;
  const gen = rsGenerator(eccWords);
  const { exp: EXP, log: LOG } = GF256;
  const mul = new Uint8Array(256 * eccWords);
  for (let f4 = 1; f4 < 256; f4++) {
    const lf = LOG[f4];
    const off = f4 * eccWords;
    for (let j2 = 0; j2 < eccWords; j2++) {
      const c3 = gen[j2];
      if (c3)
        mul[off + j2] = EXP[LOG[c3] + lf];
    }
  }
  return RS_CACHE[eccWords] = { gen, mul };
}
function rsEcc(data, gen, mul) {
  const { exp: EXP, log: LOG } = GF256;
  const eccWords = gen.length;
  const res = new Uint8Array(eccWords);
  if (mul !== void 0) {
    const last = eccWords - 1;
    for (let i3 = 0; i3 < data.length; i3++) {
      const off = (data[i3] ^ res[0]) * eccWords;
      for (let j2 = 0; j2 < last; j2++)
        res[j2] = res[j2 + 1] ^ mul[off + j2];
      res[last] = mul[off + last];
    }
    return res;
  }
  for (let i3 = 0; i3 < data.length; i3++) {
    const f4 = data[i3] ^ res[0];
    res.copyWithin(0, 1);
    res[eccWords - 1] = 0;
    if (f4) {
      for (let j2 = 0; j2 < eccWords; j2++)
        if (gen[j2])
          res[j2] ^= EXP[LOG[gen[j2]] + LOG[f4]];
    }
  }
  return res;
}
function capacity(ver, ecc) {
  const bytes = BYTES[ver - 1];
  const words = WORDS_PER_BLOCK[ecc][ver - 1];
  const numBlocks = ECC_BLOCKS[ecc][ver - 1];
  const blockLen = Math.floor(bytes / numBlocks) - words;
  const shortBlocks = numBlocks - bytes % numBlocks;
  return { words, numBlocks, shortBlocks, blockLen, capacity: (bytes - words * numBlocks) * 8 };
}
var err = (msg) => {
  throw new Error(msg);
};
function asVersion(ver) {
  if (typeof ver !== "number")
    throw new TypeError(`"ver" expected number, got type=${typeof ver}`);
  if (!Number.isSafeInteger(ver))
    throw new RangeError(`"ver" expected safe integer, got ${ver}`);
  if (ver < 1 || ver > 40)
    throw new RangeError(`Invalid version=${ver}. Expected number [1..40]`);
  return ver;
}
function detectType(str) {
  let type = "numeric";
  for (let i3 = 0; i3 < str.length; i3++) {
    const v3 = ALNUM_VAL[str.charCodeAt(i3)];
    if (!(v3 >= 0))
      return "byte";
    if (v3 > 9)
      type = "alphanumeric";
  }
  return type;
}
var ALNUM_VAL = /* @__PURE__ */ (() => {
  const t3 = new Int8Array(128).fill(-1);
  for (let i3 = 0; i3 < ALPHANUMERIC.length; i3++)
    t3[ALPHANUMERIC.charCodeAt(i3)] = i3;
  return t3;
})();
function encodeData(ver, ecc, text2, type, utf8) {
  const cap = capacity(ver, ecc);
  const lengthBits = LENGTH_BITS[type][Math.floor((ver + 7) / 17)];
  const dataLen = type === "byte" ? utf8.length : text2.length;
  if (dataLen >= 1 << lengthBits)
    err("Capacity overflow");
  const bytes = new Uint8Array(cap.capacity >>> 3);
  let acc = 0;
  let accBits = 0;
  let bytePos = 0;
  const push = (value, len) => {
    acc = acc << len | value;
    for (accBits += len; accBits >= 8; )
      bytes[bytePos++] = acc >>> (accBits -= 8) & 255;
  };
  push(MODE_BITS[type], 4);
  push(dataLen, lengthBits);
  if (type === "numeric") {
    for (let i3 = 0; i3 < dataLen; i3 += 3) {
      const n2 = Math.min(3, dataLen - i3);
      push(Number(text2.slice(i3, i3 + n2)), [0, 4, 7, 10][n2]);
    }
  } else if (type === "alphanumeric") {
    for (let i3 = 0; i3 + 1 < dataLen; i3 += 2)
      push(ALNUM_VAL[text2.charCodeAt(i3)] * 45 + ALNUM_VAL[text2.charCodeAt(i3 + 1)], 11);
    if (dataLen & 1)
      push(ALNUM_VAL[text2.charCodeAt(dataLen - 1)], 6);
  } else {
    for (let i3 = 0; i3 < utf8.length; i3++)
      push(utf8[i3], 8);
  }
  let bitPos = bytePos * 8 + accBits;
  if (bitPos > cap.capacity)
    err("Capacity overflow");
  if (accBits)
    bytes[bytePos] = acc << 8 - accBits & 255;
  bitPos += Math.min(4, cap.capacity - bitPos);
  if (bitPos & 7)
    bitPos += 8 - (bitPos & 7);
  for (let i3 = bitPos >>> 3, pad = 0; i3 < bytes.length; i3++, pad ^= 1)
    bytes[i3] = pad ? 17 : 236;
  const { words, numBlocks, shortBlocks, blockLen } = cap;
  const rs = rsCached(words);
  const blocks = [];
  const eccs = [];
  for (let i3 = 0, pos = 0; i3 < numBlocks; i3++) {
    const len = blockLen + (i3 < shortBlocks ? 0 : 1);
    blocks.push(bytes.subarray(pos, pos + len));
    eccs.push(rsEcc(blocks[i3], rs.gen, rs.mul));
    pos += len;
  }
  const res = new Uint8Array(bytes.length + words * numBlocks);
  let p3 = 0;
  for (let i3 = 0; i3 <= blockLen; i3++) {
    for (const b of blocks)
      if (i3 < b.length)
        res[p3++] = b[i3];
  }
  for (let i3 = 0; i3 < words; i3++)
    for (const e3 of eccs)
      res[p3++] = e3[i3];
  return res;
}
function maskBits(x2, y3) {
  const x22 = x2 % 2;
  const y22 = y3 % 2;
  const x3 = x2 % 3;
  const xy3 = x3 * (y3 % 3) % 3;
  const xy2 = x22 & y22;
  let bits = 0;
  if (x22 === y22)
    bits |= 1;
  if (y22 === 0)
    bits |= 2;
  if (x3 === 0)
    bits |= 4;
  if ((x2 + y3) % 3 === 0)
    bits |= 8;
  if ((Math.floor(y3 / 2) + Math.floor(x2 / 3)) % 2 === 0)
    bits |= 16;
  if (xy2 + xy3 === 0)
    bits |= 32;
  if ((xy2 + xy3) % 2 === 0)
    bits |= 64;
  if (((x22 ^ y22) + xy3) % 2 === 0)
    bits |= 128;
  return bits;
}
var POP16 = /* @__PURE__ */ (() => {
  const t3 = new Uint8Array(1 << 16);
  for (let i3 = 1; i3 < t3.length; i3++)
    t3[i3] = t3[i3 >>> 1] + (i3 & 1);
  return t3;
})();
var popcnt = (n2) => POP16[n2 & 65535] + POP16[n2 >>> 16];
var TRANSPOSE_TMP = /* @__PURE__ */ new Uint32Array(32);
function transpose32(a4) {
  const masks = [1431655765, 858993459, 252645135, 16711935, 65535];
  for (let stage = 0; stage < 5; stage++) {
    const m3 = masks[stage] >>> 0;
    const s3 = 1 << stage;
    for (let i3 = 0; i3 < 32; i3 += s3 << 1) {
      for (let k2 = 0; k2 < s3; k2++) {
        const x2 = a4[i3 + k2] >>> 0;
        const y3 = a4[i3 + k2 + s3] >>> 0;
        const t3 = (x2 >>> s3 ^ y3) & m3;
        a4[i3 + k2] = (x2 ^ t3 << s3) >>> 0;
        a4[i3 + k2 + s3] = (y3 ^ t3) >>> 0;
      }
    }
  }
}
var mat = (size) => {
  const words = size + 31 >>> 5;
  return { size, words, v: new Uint32Array(words * size) };
};
var matGet = (m3, x2, y3) => m3.v[y3 * m3.words + (x2 >>> 5)] >>> (x2 & 31) & 1;
var matSet = (m3, x2, y3, bit) => {
  const i3 = y3 * m3.words + (x2 >>> 5);
  const b = 1 << (x2 & 31);
  m3.v[i3] = bit ? m3.v[i3] | b : m3.v[i3] & ~b;
};
function transposeMat(src, dst) {
  const { size, words, v: v3 } = src;
  const tmp = TRANSPOSE_TMP;
  for (let by = 0; by < size; by += 32) {
    for (let bx = 0; bx < words; bx++) {
      const rows = Math.min(32, size - by);
      for (let r3 = 0; r3 < rows; r3++)
        tmp[r3] = v3[(by + r3) * words + bx];
      tmp.fill(0, rows);
      transpose32(tmp);
      for (let i3 = 0, dstY = bx * 32; i3 < 32 && dstY < size; i3++, dstY++) {
        dst.v[dstY * dst.words + (by >>> 5)] = tmp[i3];
      }
    }
  }
}
function runsPenaltyVertical(m3) {
  const { size, words, v: v3 } = m3;
  const tail = size & 31 ? (1 << (size & 31)) - 1 >>> 0 : 4294967295;
  let score = 0;
  for (let wi = 0; wi < words; wi++) {
    const valid = wi === words - 1 ? tail : 4294967295;
    let r3 = v3[3 * words + wi];
    let dPrev = 4294967295;
    let d0 = v3[wi] ^ v3[words + wi];
    let d1 = v3[words + wi] ^ v3[2 * words + wi];
    let d22 = v3[2 * words + wi] ^ r3;
    for (let y3 = 0, idx = 4 * words + wi; y3 <= size - 5; y3++, idx += words) {
      const r4 = v3[idx];
      const d3 = r3 ^ r4;
      const w3 = ~(d0 | d1 | d22 | d3) & valid;
      if (w3)
        score += popcnt(w3 >>> 0) + 2 * popcnt((w3 & dPrev) >>> 0);
      dPrev = d0;
      d0 = d1;
      d1 = d22;
      d22 = d3;
      r3 = r4;
    }
  }
  return score;
}
function finderPenaltyVertical(m3) {
  const { size, words, v: v3 } = m3;
  const tail = size & 31 ? (1 << (size & 31)) - 1 >>> 0 : 4294967295;
  let count = 0;
  for (let wi = 0; wi < words; wi++) {
    const valid = wi === words - 1 ? tail : 4294967295;
    for (let y3 = 0; y3 <= size - 11; y3++) {
      let i3 = y3 * words + wi;
      const r0 = v3[i3];
      const r1 = v3[i3 += words];
      const r22 = v3[i3 += words];
      const r3 = v3[i3 += words];
      const r4 = v3[i3 += words];
      const r5 = v3[i3 += words];
      const r6 = v3[i3 += words];
      const r7 = v3[i3 += words];
      const r8 = v3[i3 += words];
      const r9 = v3[i3 += words];
      const r10 = v3[i3 + words];
      const m0 = valid & r0 & ~r1 & r22 & r3 & r4 & ~r5 & r6 & ~(r7 | r8 | r9 | r10);
      const m1 = valid & ~(r0 | r1 | r22 | r3) & r4 & ~r5 & r6 & r7 & r8 & ~r9 & r10;
      count += popcnt(m0 >>> 0) + popcnt(m1 >>> 0);
    }
  }
  return count;
}
function penaltyScore(m3, t3, limit = Infinity) {
  const { size, words, v: v3 } = m3;
  const adjacent = runsPenaltyVertical(m3) + runsPenaltyVertical(t3);
  if (adjacent >= limit)
    return adjacent;
  const tail2 = (1 << size - 32 * (words - 1) - 1) - 1 >>> 0;
  let boxes = 0;
  let dark2 = 0;
  for (let y3 = 0; y3 < size; y3++) {
    for (let wi = 0; wi < words; wi++) {
      const a0 = v3[y3 * words + wi];
      dark2 += popcnt(a0 >>> 0);
      if (y3 === size - 1)
        continue;
      const a1 = v3[(y3 + 1) * words + wi];
      const n0 = wi + 1 < words ? v3[y3 * words + wi + 1] : 0;
      const n1 = wi + 1 < words ? v3[(y3 + 1) * words + wi + 1] : 0;
      const eqV = ~(a0 ^ a1);
      const eqH0 = ~(a0 ^ (a0 >>> 1 | n0 << 31));
      const eqH1 = ~(a1 ^ (a1 >>> 1 | n1 << 31));
      let w3 = eqV & eqH0 & eqH1;
      if (wi === words - 1)
        w3 &= tail2;
      boxes += popcnt(w3 >>> 0);
    }
  }
  const total = size * size;
  const darkSteps = Math.ceil(Math.max(0, Math.abs(dark2 * 100 - total * 50) - total * 5) / (total * 5));
  const partial = adjacent + 3 * boxes + 10 * darkSteps;
  if (partial >= limit)
    return partial;
  return partial + 40 * (finderPenaltyVertical(m3) + finderPenaltyVertical(t3));
}
function drawInfo(m3, ver, ecc, mask) {
  const size = m3.size;
  const bits = formatBits(ecc, mask);
  for (let i3 = 0; i3 < 15; i3++) {
    const bit = bits >> i3 & 1;
    if (i3 < 6)
      matSet(m3, 8, i3, bit);
    else if (i3 < 8)
      matSet(m3, 8, i3 + 1, bit);
    else if (i3 === 8)
      matSet(m3, 7, 8, bit);
    else
      matSet(m3, 14 - i3, 8, bit);
    if (i3 < 8)
      matSet(m3, size - 1 - i3, 8, bit);
    else
      matSet(m3, 8, size - 15 + i3, bit);
  }
  matSet(m3, 8, size - 8, 1);
  if (ver >= 7) {
    const vbits = versionBits(ver);
    for (let i3 = 0; i3 < 18; i3++) {
      const bit = vbits >> i3 & 1;
      const x2 = size - 11 + i3 % 3;
      const y3 = i3 / 3 | 0;
      matSet(m3, x2, y3, bit);
      matSet(m3, y3, x2, bit);
    }
  }
}
var symCache;
function buildSymCache(ver) {
  const size = 21 + 4 * (ver - 1);
  const m3 = mat(size);
  const fun = new Uint8Array(size * size);
  const setF = (x2, y3, bit) => {
    matSet(m3, x2, y3, bit);
    fun[y3 * size + x2] = 1;
  };
  for (const [fx, fy] of [
    [0, 0],
    [size - 7, 0],
    [0, size - 7]
  ]) {
    for (let dy = -1; dy < 8; dy++) {
      for (let dx = -1; dx < 8; dx++) {
        const x2 = fx + dx;
        const y3 = fy + dy;
        if (x2 < 0 || y3 < 0 || x2 >= size || y3 >= size)
          continue;
        const on = dx >= 0 && dx < 7 && dy >= 0 && dy < 7 && (dx === 0 || dx === 6 || dy === 0 || dy === 6 || dx > 1 && dx < 5 && dy > 1 && dy < 5);
        setF(x2, y3, on ? 1 : 0);
      }
    }
  }
  const align = alignmentPatterns(ver);
  for (const ay of align) {
    for (const ax of align) {
      if (fun[ay * size + ax])
        continue;
      for (let dy = -2; dy <= 2; dy++) {
        for (let dx = -2; dx <= 2; dx++) {
          const on = Math.max(Math.abs(dx), Math.abs(dy)) !== 1;
          setF(ax + dx, ay + dy, on ? 1 : 0);
        }
      }
    }
  }
  for (let i3 = 0; i3 < size; i3++) {
    if (!fun[6 * size + i3])
      setF(i3, 6, i3 % 2 === 0 ? 1 : 0);
    if (!fun[i3 * size + 6])
      setF(6, i3, i3 % 2 === 0 ? 1 : 0);
  }
  for (let i3 = 0; i3 < 9; i3++) {
    if (i3 !== 6) {
      setF(8, i3, 0);
      setF(i3, 8, 0);
    }
    if (i3 < 8) {
      setF(size - 1 - i3, 8, 0);
      setF(8, size - 1 - i3, 0);
    }
  }
  if (ver >= 7) {
    for (let i3 = 0; i3 < 18; i3++) {
      const x2 = size - 11 + i3 % 3;
      const y3 = i3 / 3 | 0;
      setF(x2, y3, 0);
      setF(y3, x2, 0);
    }
  }
  const planes = [];
  for (let i3 = 0; i3 < 8; i3++)
    planes.push(mat(size));
  const posBuf = new Uint16Array(size * size);
  let n2 = 0;
  for (let xOffset = size - 1, dir = -1, y3 = size - 1; xOffset > 0; xOffset -= 2, dir = -dir) {
    if (xOffset === 6)
      xOffset = 5;
    for (; ; y3 += dir) {
      for (let j2 = 0; j2 < 2; j2++) {
        const x2 = xOffset - j2;
        if (fun[y3 * size + x2])
          continue;
        const wi = y3 * m3.words + (x2 >>> 5);
        posBuf[n2++] = wi << 5 | x2 & 31;
        for (let p3 = 0, mb = maskBits(x2, y3); mb; p3++, mb >>= 1) {
          if (mb & 1)
            planes[p3].v[wi] |= 1 << (x2 & 31);
        }
      }
      if (y3 + dir < 0 || y3 + dir >= size)
        break;
    }
  }
  const planesT = planes.map((p3) => {
    const t3 = mat(size);
    transposeMat(p3, t3);
    return t3.v;
  });
  return {
    ver,
    tpl: m3.v,
    pos: posBuf.slice(0, n2),
    planes: planes.map((p3) => p3.v),
    planesT,
    work: [mat(size), mat(size), mat(size), mat(size)]
  };
}
function drawSymbol(ver, ecc, data, maskIdx, test = false) {
  if (symCache === void 0 || symCache.ver !== ver)
    symCache = buildSymCache(ver);
  const { tpl, pos, planes, planesT, work } = symCache;
  const [m3, t3, cand, candT] = work;
  m3.v.set(tpl);
  const need = Math.min(8 * data.length, pos.length);
  for (let i3 = 0; i3 < need; i3++) {
    if (data[i3 >>> 3] & 128 >>> (i3 & 7)) {
      const p3 = pos[i3];
      m3.v[p3 >>> 5] |= 1 << (p3 & 31);
    }
  }
  let mask = maskIdx;
  if (mask === void 0) {
    transposeMat(m3, t3);
    let bestScore = Infinity;
    for (let p3 = 0; p3 < 8; p3++) {
      const pv2 = planes[p3];
      const ptv = planesT[p3];
      for (let i3 = 0; i3 < cand.v.length; i3++) {
        cand.v[i3] = m3.v[i3] ^ pv2[i3];
        candT.v[i3] = t3.v[i3] ^ ptv[i3];
      }
      const score = penaltyScore(cand, candT, bestScore);
      if (score < bestScore) {
        bestScore = score;
        mask = p3;
      }
    }
  }
  const pv = planes[mask];
  for (let i3 = 0; i3 < m3.v.length; i3++)
    m3.v[i3] ^= pv[i3];
  if (!test)
    drawInfo(m3, ver, ecc, mask);
  return m3;
}
var asNum = (n2, title) => {
  if (typeof n2 !== "number")
    throw new TypeError(`"${title}" expected number, got type=${typeof n2}`);
  if (!Number.isSafeInteger(n2))
    throw new RangeError(`"${title}" expected safe integer, got ${n2}`);
  return n2;
};
var asString = (s3, title) => {
  if (typeof s3 !== "string")
    throw new TypeError(`"${title}" expected string, got type=${typeof s3}`);
  return s3;
};
function utf8Length(str) {
  let length = 0;
  for (let i3 = 0; i3 < str.length; i3++) {
    const c3 = str.charCodeAt(i3);
    if (c3 < 128)
      length++;
    else if (c3 < 2048)
      length += 2;
    else if (c3 < 55296 || c3 > 57343)
      length += 3;
    else if (c3 <= 56319 && i3 + 1 < str.length) {
      const next = str.charCodeAt(i3 + 1);
      if (next >= 56320 && next <= 57343) {
        length += 4;
        i3++;
      } else
        length += 3;
    } else
      length += 3;
  }
  return length;
}
function byteCapacity(ver, ecc) {
  const lengthBits = LENGTH_BITS.byte[Math.floor((ver + 7) / 17)];
  return Math.min((1 << lengthBits) - 1, Math.floor((capacity(ver, ecc).capacity - 4 - lengthBits) / 8));
}
function _isBytes(a4) {
  return a4 instanceof Uint8Array || ArrayBuffer.isView(a4) && a4.constructor.name === "Uint8Array" && "BYTES_PER_ELEMENT" in a4 && a4.BYTES_PER_ELEMENT === 1;
}
var dark = (r3, x2, y3) => r3.map[x2] >= 0 && r3.map[y3] >= 0 && matGet(r3.m, r3.map[x2], r3.map[y3]) === 1;
var CTRL = [10, 27];
var NL = /* @__PURE__ */ String.fromCharCode(CTRL[0]);
function renderRaw(r3) {
  const W = r3.W;
  const res = new Array(W);
  for (let y3 = 0; y3 < W; y3++) {
    const row = new Array(W);
    for (let x2 = 0; x2 < W; x2++)
      row[x2] = dark(r3, x2, y3);
    res[y3] = row;
  }
  return res;
}
function renderAscii(r3) {
  const W = r3.W;
  let out = "";
  for (let y3 = 0; y3 < W; y3 += 2) {
    for (let x2 = 0; x2 < W; x2++) {
      const first = dark(r3, x2, y3);
      const second = y3 + 1 >= W ? true : dark(r3, x2, y3 + 1);
      out += !first && !second ? "█" : !first && second ? "▀" : first && !second ? "▄" : " ";
    }
    out += NL;
  }
  return out;
}
function renderTerm(r3) {
  const W = r3.W;
  const esc = String.fromCharCode(CTRL[1]);
  const reset = esc + "[0m";
  let out = "";
  for (let y3 = 0; y3 < W; y3++) {
    for (let x2 = 0; x2 < W; x2++) {
      out += dark(r3, x2, y3) ? `${esc}[40m  ${reset}` : `${esc}[1;47m  ${reset}`;
    }
    out += NL;
  }
  return out;
}
function renderSvg(r3, optimize) {
  const W = r3.W;
  let out = `<svg viewBox="0 0 ${W} ${W}" xmlns="http://www.w3.org/2000/svg">`;
  let pathData = "";
  let prev;
  for (let y3 = 0; y3 < W; y3++) {
    for (let x2 = 0; x2 < W; x2++) {
      if (!dark(r3, x2, y3))
        continue;
      if (!optimize) {
        out += `<rect x="${x2}" y="${y3}" width="1" height="1" />`;
        continue;
      }
      let mv = `M${x2} ${y3}`;
      if (prev) {
        const rel = `m${x2 - prev.x} ${y3 - prev.y}`;
        if (rel.length <= mv.length)
          mv = rel;
      }
      pathData += `${mv}h1v1${x2 < 10 ? `H${x2}` : "h-1"}Z`;
      prev = { x: x2, y: y3 };
    }
  }
  if (optimize)
    out += `<path d="${pathData}"/>`;
  return out + "</svg>";
}
function renderGif(r3) {
  const W = r3.W;
  const pixels = W * W;
  const N2 = 126;
  const fullChunks = Math.floor(pixels / N2);
  const tail = pixels % N2;
  const out = new Uint8Array(408 + fullChunks * (N2 + 2) + 2 + tail + 4);
  let p3 = 0;
  const u16 = (v3) => {
    out[p3++] = v3 & 255;
    out[p3++] = v3 >>> 8;
  };
  for (const b of [71, 73, 70, 56, 55, 97])
    out[p3++] = b;
  u16(W);
  u16(W);
  out[p3++] = 246;
  p3 += 2;
  out[p3++] = 255;
  out[p3++] = 255;
  out[p3++] = 255;
  p3 += 3 * 127;
  out[p3++] = 44;
  p3 += 4;
  u16(W);
  u16(W);
  out[p3++] = 0;
  out[p3++] = 7;
  const { m: m3, map } = r3;
  const row = new Uint8Array(W);
  let prevMy = -2;
  for (let y3 = 0, i3 = 0; y3 < W; y3++) {
    const my = map[y3];
    if (my !== prevMy) {
      prevMy = my;
      row.fill(0);
      if (my >= 0) {
        for (let x2 = 0; x2 < W; x2++)
          if (map[x2] >= 0)
            row[x2] = matGet(m3, map[x2], my);
      }
    }
    for (let x2 = 0; x2 < W; ) {
      if (i3 % N2 === 0) {
        const rem = pixels - i3;
        out[p3++] = (rem < N2 ? rem : N2) + 1;
        out[p3++] = 128;
      }
      const n2 = Math.min(N2 - i3 % N2, W - x2);
      out.set(row.subarray(x2, x2 + n2), p3);
      p3 += n2;
      x2 += n2;
      i3 += n2;
    }
  }
  if (tail === 0) {
    out[p3++] = 1;
    out[p3++] = 128;
  }
  out[p3++] = 1;
  out[p3++] = 129;
  out[p3++] = 0;
  out[p3++] = 59;
  return out;
}
function gifDataUrl(gif) {
  const g3 = gif;
  let b64;
  if (typeof g3.toBase64 === "function")
    b64 = g3.toBase64();
  else {
    let bin = "";
    for (let i3 = 0; i3 < g3.length; i3 += 8192)
      bin += String.fromCharCode(...g3.subarray(i3, i3 + 8192));
    b64 = btoa(bin);
  }
  return "data:image/gif;base64," + b64;
}
function encodeQR(text2, output = "raw", opts = {}) {
  asString(text2, "text");
  asString(output, "output");
  if (typeof opts !== "object" || opts === null || Array.isArray(opts))
    throw new TypeError(`"opts" expected object, got type=${typeof opts}`);
  let ver = opts.version;
  if (ver !== void 0)
    ver = asVersion(ver);
  const ecc = opts.ecc !== void 0 ? opts.ecc : "medium";
  if (!ECC_LEVELS.includes(ecc))
    err(`invalid ecc=${ecc}`);
  const encoding = opts.encoding !== void 0 ? opts.encoding : detectType(text2);
  if (!LENGTH_BITS[encoding])
    err(`invalid encoding=${encoding}`);
  if (encoding !== "byte") {
    const alpha = encoding === "numeric" ? ALPHANUMERIC.slice(0, 10) : ALPHANUMERIC;
    for (const ch of text2) {
      if (!alpha.includes(ch))
        err(`Unknown letter: "${ch}". Allowed: ${alpha}`);
    }
  }
  if (opts.mask !== void 0 && (asNum(opts.mask, "opts.mask") < 0 || opts.mask > 7))
    err(`invalid mask=${opts.mask}`);
  const textEncoder = opts.textEncoder;
  if (encoding === "byte" && textEncoder === void 0) {
    const maxBytes = byteCapacity(ver === void 0 ? 40 : ver, ecc);
    if (text2.length > maxBytes || utf8Length(text2) > maxBytes)
      err("Capacity overflow");
  }
  const utf8 = encoding === "byte" ? (textEncoder !== void 0 ? textEncoder : (s3) => new TextEncoder().encode(s3))(text2) : void 0;
  if (utf8 !== void 0 && !_isBytes(utf8))
    throw new TypeError(`"opts.textEncoder" expected Uint8Array, got type=${typeof utf8}`);
  const dataLen = encoding === "byte" ? utf8.length : text2.length;
  const encodedBits = encoding === "numeric" ? Math.floor(dataLen / 3) * 10 + [0, 4, 7][dataLen % 3] : encoding === "alphanumeric" ? Math.floor(dataLen / 2) * 11 + dataLen % 2 * 6 : dataLen * 8;
  if (ver === void 0) {
    for (ver = 1; ver <= 40; ver++) {
      const lengthBits = LENGTH_BITS[encoding][Math.floor((ver + 7) / 17)];
      if (dataLen < 1 << lengthBits && 4 + lengthBits + encodedBits <= capacity(ver, ecc).capacity)
        break;
    }
    if (ver > 40)
      err("Capacity overflow");
  } else {
    const lengthBits = LENGTH_BITS[encoding][Math.floor((ver + 7) / 17)];
    if (dataLen >= 1 << lengthBits || 4 + lengthBits + encodedBits > capacity(ver, ecc).capacity)
      err("Capacity overflow");
  }
  const data = encodeData(ver, ecc, text2, encoding, utf8);
  const m3 = drawSymbol(ver, ecc, data, opts.mask);
  const border = opts.border === void 0 ? 2 : asNum(opts.border, "opts.border");
  if (border <= 0)
    throw new RangeError(`invalid border=${border}`);
  const scale = opts.scale === void 0 ? 1 : asNum(opts.scale, "opts.scale");
  if (scale <= 0 || scale > 1024)
    throw new RangeError(`invalid scale factor: ${scale}`);
  const W = (m3.size + 2 * border) * scale;
  const maxOutputSize = output === "ascii" || output === "gif" || output === "data-url" ? MAX_COMPACT_OUTPUT_SIZE : MAX_OUTPUT_SIZE;
  if (W > maxOutputSize)
    throw new RangeError(`invalid opts: output is ${W}x${W} (max ${maxOutputSize}), reduce border/scale`);
  const map = new Int32Array(W);
  for (let i3 = 0; i3 < W; i3++) {
    const f4 = Math.floor(i3 / scale) - border;
    map[i3] = f4 >= 0 && f4 < m3.size ? f4 : -1;
  }
  const r3 = { m: m3, W, map };
  if (output === "raw")
    return renderRaw(r3);
  if (output === "ascii")
    return renderAscii(r3);
  if (output === "term")
    return renderTerm(r3);
  if (output === "svg")
    return renderSvg(r3, opts.optimize === void 0 ? true : opts.optimize);
  if (output === "gif")
    return renderGif(r3);
  if (output === "data-url")
    return gifDataUrl(renderGif(r3));
  return err(`Unknown output: ${output}`);
}

// src/console/components/qr.tsx
var BYTES_MAX = 2953;
var QUIET_ZONE = 4;
function Qr({ text: text2, label }) {
  const bytes = utf8ToBytes(text2).length;
  if (bytes > BYTES_MAX)
    return /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "It has ",
      bytes,
      " bytes, and a QR code holds ",
      BYTES_MAX,
      ". Use the file."
    ] });
  const rows = encodeQR(text2, "raw", { ecc: "low", border: QUIET_ZONE });
  const path = rows.flatMap(
    (row, y3) => row.map((isDark, x2) => isDark && row[x2 - 1] !== true ? `M${x2} ${y3}h${darkFrom(row, x2)}v1H${x2}z` : "")
  );
  return /* @__PURE__ */ a3("svg", { class: "qr", viewBox: `0 0 ${rows.length} ${rows.length}`, role: "img", "aria-label": label, children: [
    /* @__PURE__ */ a3("rect", { width: rows.length, height: rows.length, fill: "#fff" }),
    /* @__PURE__ */ a3("path", { d: path.join(""), fill: "#000", "shape-rendering": "crispEdges" })
  ] });
}
function darkFrom(row, x2) {
  const end = row.indexOf(false, x2);
  return (end === -1 ? row.length : end) - x2;
}

// src/console/components/asked.tsx
function Wanted({ by: request }) {
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("p", { class: "sentence", children: [
      /* @__PURE__ */ a3(Said, { text: request.requestedBy }),
      " asks to do ",
      /* @__PURE__ */ a3(Said, { text: request.capability }),
      " on",
      " ",
      /* @__PURE__ */ a3(Said, { text: request.target }),
      request.principalId === request.requestedBy ? null : /* @__PURE__ */ a3($, { children: [
        ", in the name of ",
        /* @__PURE__ */ a3(Said, { text: request.principalId })
      ] }),
      "."
    ] }),
    /* @__PURE__ */ a3(Members, { of: request.parameters })
  ] });
}
function Covered({
  request,
  bytes,
  hash
}) {
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3(Members, { of: request }),
    /* @__PURE__ */ a3("details", { children: [
      /* @__PURE__ */ a3("summary", { children: "Canonical bytes (RFC 8785)" }),
      /* @__PURE__ */ a3("pre", { class: "bytes", tabIndex: 0, children: printableJson(bytes) })
    ] }),
    /* @__PURE__ */ a3("details", { children: [
      /* @__PURE__ */ a3("summary", { children: "QR code of these bytes" }),
      /* @__PURE__ */ a3(Qr, { text: bytes, label: "QR code of the request’s canonical bytes" })
    ] }),
    /* @__PURE__ */ a3("p", { children: [
      "Their SHA-256, computed by this page: ",
      /* @__PURE__ */ a3(Hash, { value: hash, whole: true })
    ] })
  ] });
}

// src/console/components/decide.tsx
function Decide({ asked, me }) {
  const { requestId, requestedBy } = asked.request;
  const [closing, setClosing] = d2();
  const mayDecide = me.approverId !== null && asked.eligible.includes(me.approverId);
  const { data } = useLoaded(
    mayDecide && me.credentialHolderType === "USER" ? "/approvers" : void 0
  );
  const passkeys = (data?.approvers ?? []).filter(
    ({ approverId, passkey, revokedAt }) => approverId === me.approverId && revokedAt === void 0 && passkey?.origins.includes(location.origin) === true
  );
  return /* @__PURE__ */ a3(Panel, { title: "Decide", children: [
    /* @__PURE__ */ a3("p", { children: "Your signature counts for one execution by this caller, of exactly this." }),
    passkeys.map((key) => /* @__PURE__ */ a3(SignWith, { own: key, asked }, key.keyId)),
    /* @__PURE__ */ a3(Elsewhere, { requestId, approverId: me.approverId, open: passkeys.length === 0 }),
    mayDecide && passkeys.length === 0 && /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "Or ",
      /* @__PURE__ */ a3("a", { href: "/console/passkey", children: "make a passkey" }),
      ", and sign here."
    ] }),
    /* @__PURE__ */ a3("div", { class: "actions", children: [
      mayDecide && /* @__PURE__ */ a3("button", { type: "button", onClick: () => setClosing("decline"), children: "Decline…" }),
      requestedBy === me.callerId && /* @__PURE__ */ a3("button", { type: "button", onClick: () => setClosing("withdraw"), children: "Withdraw…" })
    ] }),
    closing !== void 0 && /* @__PURE__ */ a3(Close2, { requestId, how: closing, onDone: () => setClosing(void 0) })
  ] });
}
function Elsewhere({
  requestId,
  approverId,
  open
}) {
  const { waits, done, problem, run } = useSigning();
  const deliver = (event) => {
    event.preventDefault();
    const text2 = fieldOf(event.currentTarget, "approval");
    void run(async () => {
      let approval;
      try {
        approval = JSON.parse(text2);
      } catch {
        throw new ApiProblem(400, "This is not the JSON text of an approval.");
      }
      return post("/approvals", approval);
    });
  };
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("details", { open, children: [
      /* @__PURE__ */ a3("summary", { children: "Sign on your own machine, with a key in a file" }),
      /* @__PURE__ */ a3(
        Command,
        {
          text: `bin/countersign approver sign-request ${requestId} --url ${location.origin} --api-key "$KEY" --key <your key>.pem --approver ${approverId ?? "<you>"} --key-id <key>`
        }
      ),
      /* @__PURE__ */ a3("p", { class: "quiet", children: "The command shows hash and action code too, and refuses a request that does not match them." }),
      /* @__PURE__ */ a3("p", { children: [
        "Or in the ",
        /* @__PURE__ */ a3("a", { href: "/signer", children: "offline signer" }),
        ", a page that you save once:",
        " ",
        /* @__PURE__ */ a3("a", { href: `/approval-requests/${requestId}`, download: `request-${requestId}.json`, children: "save the request" }),
        " ",
        "for it, or let it read the QR code."
      ] })
    ] }),
    /* @__PURE__ */ a3("details", { children: [
      /* @__PURE__ */ a3("summary", { children: "Deliver a signature that was made elsewhere" }),
      /* @__PURE__ */ a3("form", { onSubmit: deliver, children: [
        /* @__PURE__ */ a3("label", { children: [
          "The approval, as the offline signer or the command made it",
          /* @__PURE__ */ a3("textarea", { name: "approval", rows: 5, required: true, spellcheck: false, autocomplete: "off" })
        ] }),
        /* @__PURE__ */ a3("button", { type: "submit", disabled: waits, children: "Deliver" }),
        /* @__PURE__ */ a3(Problem, { text: problem }),
        done && /* @__PURE__ */ a3("p", { role: "status", children: "Delivered. The request changes in a moment." })
      ] })
    ] })
  ] });
}
function SignWith({ own, asked }) {
  const { approverId, keyId, publicKeyPem, passkey } = own;
  const { waits, done, problem, run } = useSigning();
  if (passkey === void 0) return null;
  const { rpId, credentialId } = passkey;
  const by = { approverId, keyId, rpId, credentialId, algorithm: algorithmOfPem(publicKeyPem) };
  const submit = () => run(async () => post("/approvals", await approvalBy(by, asked)));
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("div", { class: "actions", children: /* @__PURE__ */ a3("button", { type: "button", class: "primary", disabled: waits, onClick: () => void submit(), children: [
      "Sign with passkey ",
      keyId,
      "…"
    ] }) }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    done && /* @__PURE__ */ a3("p", { role: "status", children: "Signed. The request changes in a moment." })
  ] });
}
function Close2({
  requestId,
  how,
  onDone
}) {
  const dialog = T2(null);
  const [problem, setProblem] = d2();
  A2(() => dialog.current?.showModal(), []);
  const submit = async (event) => {
    event.preventDefault();
    const reason = fieldOf(event.currentTarget, "reason");
    try {
      await post(`/approval-requests/${requestId}/${how}`, how === "decline" ? { reason } : {});
      dialog.current?.close();
    } catch (error) {
      setProblem(problemText(error));
    }
  };
  return /* @__PURE__ */ a3("dialog", { ref: dialog, onClose: onDone, "aria-labelledby": "closing", children: [
    /* @__PURE__ */ a3("h2", { id: "closing", children: how === "decline" ? "Decline this request" : "Withdraw this request" }),
    /* @__PURE__ */ a3("form", { onSubmit: (event) => void submit(event), children: [
      how === "decline" && /* @__PURE__ */ a3("label", { children: [
        "Why, for the caller and for later readers",
        /* @__PURE__ */ a3("textarea", { name: "reason", required: true, maxLength: 1e3, rows: 4 })
      ] }),
      /* @__PURE__ */ a3("p", { children: "This is final: approvals that were given for the request count no more." }),
      /* @__PURE__ */ a3(Problem, { text: problem }),
      /* @__PURE__ */ a3("div", { class: "actions", children: [
        /* @__PURE__ */ a3("button", { type: "submit", class: "primary", children: how === "decline" ? "Decline" : "Withdraw" }),
        /* @__PURE__ */ a3("button", { type: "button", onClick: () => dialog.current?.close(), children: "Go back" })
      ] })
    ] })
  ] });
}

// src/core/json/fields.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/core/policy/member-at.ts
function memberAt(value, members) {
  let at = value;
  for (const member of members) at = isObject(at) && Object.hasOwn(at, member) ? at[member] : void 0;
  return at;
}

// src/core/policy/display.ts
var PLACE = /\{([^{}]*)\}/;
function valueText(value) {
  if (value === void 0) return "(not given)";
  return typeof value === "string" ? value : JSON.stringify(value);
}
function displayOf({ display = {} }, { capability, target, parameters, signals }) {
  if (!Object.hasOwn(display, capability)) return void 0;
  const facts = { intent: { target, parameters }, signals };
  return display[capability].split(PLACE).map(
    (part, i3) => i3 % 2 === 0 ? { words: part } : { place: part, value: memberAt(facts, part.split(".")) }
  );
}

// src/console/components/judgement.tsx
function usePolicyOf({ policy: { name, version, contentHash } }) {
  const path = `/policies/${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
  const { data, problem } = useLoaded(path);
  if (data === void 0 || sha256Hex(canonicalize(data.document)) === contentHash)
    return { path, document: data?.document, problem };
  return {
    path,
    document: void 0,
    problem: "The service shows another content of this policy than the request names. Do not sign before you know why."
  };
}
function InWords({ of: { document: document2 }, asked }) {
  const pieces = document2 && displayOf(document2, asked);
  if (pieces === void 0) return null;
  return /* @__PURE__ */ a3("p", { class: "sentence", children: pieces.map(
    (piece, i3) => "words" in piece ? oneLine(piece.words) : /* @__PURE__ */ a3("strong", { children: /* @__PURE__ */ a3(Said, { text: valueText(piece.value) }) }, i3)
  ) });
}
function Judgement({ of: request, by: policy }) {
  const { name, version, contentHash } = request.policy;
  const { path, document: document2, problem } = policy;
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3(Panel, { title: "What the policy says", children: [
      /* @__PURE__ */ a3("p", { children: [
        "Policy",
        " ",
        /* @__PURE__ */ a3("a", { href: `/console${path}`, children: /* @__PURE__ */ a3(Said, { text: `${name} ${version}` }) }),
        ", content ",
        /* @__PURE__ */ a3(Hash, { value: contentHash })
      ] }),
      /* @__PURE__ */ a3(Problem, { text: problem }),
      document2 !== void 0 && /* @__PURE__ */ a3(Rules, { of: document2, judging: request })
    ] }),
    document2 !== void 0 && /* @__PURE__ */ a3(Panel, { title: "Signals", children: /* @__PURE__ */ a3(Signals, { of: document2, asked: request }) })
  ] });
}
function Rules({ of: document2, judging }) {
  const { decision, problem } = useDecision(judging);
  if (decision === void 0)
    return problem === void 0 ? /* @__PURE__ */ a3("p", { class: "quiet", children: "Loading…" }) : /* @__PURE__ */ a3(Problem, { text: problem });
  const matched = document2.rules.find(({ id }) => id === decision.matchedRuleId);
  const readsMore = document2.rules.some(({ when: when2 }) => /\b(metadata|authority)\b/.test(when2));
  return /* @__PURE__ */ a3($, { children: [
    matched === void 0 ? /* @__PURE__ */ a3("p", { children: [
      "No rule approves it: ",
      /* @__PURE__ */ a3(Said, { text: decision.reason })
    ] }) : /* @__PURE__ */ a3("p", { children: [
      "Rule ",
      /* @__PURE__ */ a3("strong", { children: oneLine(matched.id) }),
      " ",
      /* @__PURE__ */ a3(Badge, { status: matched.outcome === "approve" ? "APPROVED" : "REJECTED" }),
      " decides, if the signals below hold: ",
      /* @__PURE__ */ a3(Said, { text: matched.reason })
    ] }),
    /* @__PURE__ */ a3("details", { children: [
      /* @__PURE__ */ a3("summary", { children: "Every rule, in order: the first that fits decides" }),
      /* @__PURE__ */ a3("ol", { class: "rules", children: document2.rules.map(({ id, when: when2, outcome, reason }) => /* @__PURE__ */ a3("li", { children: [
        fits(decision, id),
        " ",
        /* @__PURE__ */ a3("strong", { children: oneLine(id) }),
        " ",
        /* @__PURE__ */ a3(Badge, { status: outcome === "approve" ? "APPROVED" : "REJECTED" }),
        /* @__PURE__ */ a3("pre", { tabIndex: 0, children: oneLine(when2) }),
        /* @__PURE__ */ a3(Said, { text: reason })
      ] }, id)) })
    ] }),
    readsMore && /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "A rule reads members of the execution that no request has (",
      /* @__PURE__ */ a3("code", { children: "metadata" }),
      ",",
      " ",
      /* @__PURE__ */ a3("code", { children: "authority" }),
      "). It may decide otherwise then."
    ] })
  ] });
}
function fits({ rules }, id) {
  const matched = rules.find((rule) => rule.id === id)?.matched;
  return matched === true ? "Fits:" : matched === false ? "Does not fit:" : "Cannot be evaluated:";
}
function useDecision(request) {
  const [state, setState] = d2({});
  A2(() => {
    let isLeft = false;
    post("/sandbox/evaluate", transactionOf(request)).then(
      ({ decision: decision2 }) => isLeft || setState({ decision: decision2 }),
      (error) => isLeft || isAborted(error) || setState({ problem: problemText(error) })
    );
    return () => void (isLeft = true);
  }, [request.requestId]);
  const { decision, problem } = state;
  return decision === null ? { problem: "The policy cannot judge it: the version is not there any more." } : { ...decision === void 0 ? {} : { decision }, ...problem === void 0 ? {} : { problem } };
}
function transactionOf(request) {
  const [id, authorityId, authorizationId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const { createdAt, principalId, capability, target, parameters, signals } = request;
  const { name, version } = request.policy;
  return {
    businessTransactionId: id,
    metadata: { businessTransactionId: id },
    authority: { authorityId, authorityType: "SERVICE", principalId, issuedAt: createdAt },
    authorization: { authorizationId, authorityId, issuedAt: createdAt },
    intent: { intentId: id, authorizationId, action: capability, target, parameters, createdAt },
    policy: { name, version },
    signals
  };
}
function Signals({ of: document2, asked }) {
  const undeclared = Object.keys(asked.signals).filter((name) => !Object.hasOwn(document2.signals, name));
  return /* @__PURE__ */ a3(
    Table,
    {
      caption: "Signals of the request",
      rows: [...Object.keys(document2.signals), ...undeclared],
      keyOf: (name) => name,
      columns: [
        {
          title: "Signal",
          // Names of the policy's own are short words, and are not broken.
          cell: (name) => Object.hasOwn(document2.signals, name) ? name : /* @__PURE__ */ a3(Said, { text: name })
        },
        { title: "Whose word", cell: (name) => known(document2, name) },
        {
          title: "Declared",
          cell: (name) => Object.hasOwn(asked.signals, name) ? /* @__PURE__ */ a3("code", { children: jsonText(asked.signals[name]) }) : "left to the service"
        }
      ]
    }
  );
}
function known({ signals, bindings, verify }, name) {
  if (!Object.hasOwn(signals, name)) return "not read by the policy";
  const verifier = verify?.[name];
  if (verifier !== void 0) return oneLine(`verified by ${verified(verifier)}, when it is executed`);
  const bound = bindings?.[name];
  if (bound !== void 0)
    return /* @__PURE__ */ a3($, { children: [
      "must equal ",
      /* @__PURE__ */ a3("code", { children: oneLine(bound) })
    ] });
  return "on the caller’s word alone";
}
function verified(verifier) {
  if (verifier.by === "approval") return `${counted(verifier.quorum, "approval")} of a human, such as yours`;
  if (verifier.by === "crm-deal") return `the CRM: property ${verifier.property} of the deal`;
  const { window: window2, sum, per = ["caller"], where } = verifier;
  const what = sum === void 0 ? "the number" : `the total of ${sum}`;
  const only = where === void 0 ? "" : `, where ${where}`;
  return `${what} of the executions of the last ${window2} with the same ${per.join(" and ")}${only}`;
}

// src/console/components/similar.tsx
var PAST = 50;
var SHOWN = 5;
function Similar({ to }) {
  const { requestedBy, capability, target } = to;
  const query = new URLSearchParams({ callerId: requestedBy, pageSize: String(PAST) }).toString();
  const { data, problem } = useLoaded(`/trust-records?${query}`);
  const similar = (data ?? []).filter(({ transaction }) => transaction.intent.action === capability);
  const same = similar.filter(({ transaction }) => transaction.intent.target === target);
  return /* @__PURE__ */ a3(Panel, { title: "Executed before, by this caller", children: [
    /* @__PURE__ */ a3(Problem, { text: problem }),
    data !== void 0 && /* @__PURE__ */ a3("p", { children: [
      similar.length,
      " of its newest ",
      counted(data.length, "execution"),
      " did ",
      /* @__PURE__ */ a3(Said, { text: capability }),
      ",",
      " ",
      same.length === 0 ? /* @__PURE__ */ a3("strong", { children: "none on this target" }) : `${same.length} on this target`,
      "."
    ] }),
    /* @__PURE__ */ a3(Ranges, { of: to.parameters, among: similar }),
    /* @__PURE__ */ a3("ul", { class: "plain", children: [.../* @__PURE__ */ new Set([...same, ...similar])].slice(0, SHOWN).map((past) => /* @__PURE__ */ a3("li", { children: [
      /* @__PURE__ */ a3("a", { href: `/console/executions/${past.businessTransactionId}`, children: /* @__PURE__ */ a3(Said, { text: past.transaction.intent.target }) }),
      " ",
      /* @__PURE__ */ a3(Badge, { status: past.executions[0]?.status ?? "unknown" }),
      " ",
      /* @__PURE__ */ a3(Time, { at: past.createdAt }),
      " ",
      /* @__PURE__ */ a3("code", { children: jsonText(past.transaction.intent.parameters).slice(0, 120) })
    ] }, past.businessTransactionId)) })
  ] });
}
function Ranges({ of: of2, among }) {
  const ranges = Object.entries(of2).flatMap(([name, value]) => {
    const before = among.map(({ transaction }) => transaction.intent.parameters[name]).filter((past) => typeof past === "number");
    return typeof value === "number" && before.length > 0 ? [{ name, value, least: Math.min(...before), greatest: Math.max(...before) }] : [];
  });
  return ranges.map(({ name, value, least, greatest }) => /* @__PURE__ */ a3("p", { children: [
    /* @__PURE__ */ a3(Said, { text: name }),
    ": ",
    /* @__PURE__ */ a3("code", { children: value }),
    ", before ",
    /* @__PURE__ */ a3("code", { children: least }),
    " to ",
    /* @__PURE__ */ a3("code", { children: greatest }),
    value > greatest && /* @__PURE__ */ a3($, { children: [
      ". ",
      /* @__PURE__ */ a3("strong", { children: "Higher than any of these." })
    ] })
  ] }, name));
}

// src/console/pages/request.tsx
function useRequest(id) {
  const [request, setRequest] = d2();
  const [problem, setProblem] = d2();
  A2(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const follow = async () => {
      let wait = 0;
      while (!signal.aborted) {
        try {
          const { data } = await get(`/approval-requests/${encodeURIComponent(id)}`, {
            signal,
            wait
          });
          setRequest(data);
          setProblem(void 0);
          if (data.status !== "PENDING" && data.status !== "APPROVED") return;
          if (data.status === "APPROVED") await pause(5e3, signal);
          wait = 20;
        } catch (error) {
          if (isAborted(error)) return;
          setProblem(problemText(error));
          await pause(3e3, signal);
        }
      }
    };
    void follow();
    return () => leaving.abort();
  }, [id]);
  return { request, problem };
}
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
function Request({ params, me }) {
  const id = params["id"] ?? "";
  const { request, problem } = useRequest(id);
  useTitle(request === void 0 ? "Approval request" : oneLine(request.request.capability));
  if (request === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Approval request" }),
      problem === void 0 ? /* @__PURE__ */ a3("p", { class: "quiet", children: "Loading…" }) : /* @__PURE__ */ a3(Problem, { text: problem })
    ] });
  return /* @__PURE__ */ a3(Shown2, { asked: request, me, problem }, id);
}
var isOpen = ({ status }) => status === "PENDING" || status === "APPROVED";
function Shown2({
  asked,
  me,
  problem
}) {
  const { request, status, expiresAt } = asked;
  const bytes = canonicalize(request);
  const hash = sha256Hex(bytes);
  const code = actionCode(request, sha256Hex);
  const policy = usePolicyOf(request);
  const first = T2(hash).current;
  const differs = hash !== asked.requestHash || code !== asked.actionCode || hash !== first;
  if (differs) return /* @__PURE__ */ a3(DoNotSign, { ...{ asked, first, hash, code } });
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: request.capability }) }),
      /* @__PURE__ */ a3(Badge, { status }),
      isOpen(asked) ? /* @__PURE__ */ a3(Countdown, { to: expiresAt }) : /* @__PURE__ */ a3(Time, { at: asked.closed?.closedAt ?? request.createdAt })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What will happen", children: [
          /* @__PURE__ */ a3(InWords, { of: policy, asked: request }),
          /* @__PURE__ */ a3(Wanted, { by: request }),
          request.note !== "" && /* @__PURE__ */ a3("p", { children: [
            "Note by the requester, which nobody has checked: ",
            /* @__PURE__ */ a3(Said, { text: request.note })
          ] })
        ] }),
        /* @__PURE__ */ a3(Judgement, { of: request, by: policy }),
        /* @__PURE__ */ a3(Panel, { title: "Compare", action: /* @__PURE__ */ a3(Copy, { text: code }), children: [
          /* @__PURE__ */ a3("p", { class: "code", children: code }),
          /* @__PURE__ */ a3("p", { class: "quiet", children: [
            "Ask whoever runs ",
            /* @__PURE__ */ a3(Said, { text: request.requestedBy }),
            ", over another channel, for the action code that they see. It must be this one: their program computed it from what it sent, and this page from what you see."
          ] })
        ] }),
        /* @__PURE__ */ a3(Approvals, { of: asked }),
        isOpen(asked) && /* @__PURE__ */ a3(Decide, { asked, me })
      ] }),
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What a signature covers", action: /* @__PURE__ */ a3(Copy, { text: bytes, label: "Copy the bytes" }), children: /* @__PURE__ */ a3(Covered, { ...{ request, bytes, hash } }) }),
        /* @__PURE__ */ a3(Similar, { to: request })
      ] })
    ] })
  ] });
}
function DoNotSign({
  asked,
  first,
  hash,
  code
}) {
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Do not sign this" }),
    /* @__PURE__ */ a3(Problem, { text: "The service names another hash or action code than this page computes from what it was sent, or has sent another request than it did first. Somebody changes what you see. Tell the operator, and keep this page." }),
    /* @__PURE__ */ a3(
      Members,
      {
        of: {
          first: { requestHash: first },
          named: { requestHash: asked.requestHash, actionCode: asked.actionCode },
          computed: { requestHash: hash, actionCode: code }
        }
      }
    )
  ] });
}
function Approvals({ of: of2 }) {
  const { approvals, eligible, missing } = of2;
  return /* @__PURE__ */ a3(Panel, { title: "Approvals", children: [
    /* @__PURE__ */ a3("p", { children: [
      counted(of2.request.quorum, "approval"),
      " asked for, ",
      missing,
      " missing."
    ] }),
    approvals.length === 0 ? /* @__PURE__ */ a3(Empty, { children: "Nobody has signed yet." }) : null,
    /* @__PURE__ */ a3("ul", { class: "plain", children: [
      approvals.map(({ approvalId, approverId, keyId, approvedAt }) => /* @__PURE__ */ a3("li", { children: [
        /* @__PURE__ */ a3(Said, { text: approverId }),
        " with key ",
        /* @__PURE__ */ a3(Said, { text: keyId }),
        ", ",
        /* @__PURE__ */ a3(Time, { at: approvedAt })
      ] }, approvalId)),
      isOpen(of2) && eligible.length > 0 && /* @__PURE__ */ a3("li", { class: "quiet", children: [
        "Could still sign: ",
        /* @__PURE__ */ a3(Said, { text: eligible.join(", ") })
      ] })
    ] }),
    of2.closed !== void 0 && /* @__PURE__ */ a3("p", { children: [
      of2.closed.status === "DECLINED" ? "Declined" : "Withdrawn",
      " by ",
      /* @__PURE__ */ a3(Said, { text: of2.closed.by }),
      ":",
      " ",
      /* @__PURE__ */ a3(Said, { text: of2.closed.reason ?? "" })
    ] })
  ] });
}

// src/console/pages/requests.tsx
var STATUSES2 = ["PENDING", "APPROVED", "DECLINED", "EXPIRED", "USED", "WITHDRAWN"];
function Requests({ query }) {
  const path = listPath("/approval-requests", query, ["status", "cursor"]);
  const loaded = useLoaded(path, 1e4);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Approval requests" }),
    /* @__PURE__ */ a3("div", { class: "filters", children: /* @__PURE__ */ a3(Choice, { label: "Status", name: "status", values: STATUSES2 }) }),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: ({ requests }) => requests,
        empty: "No such request. A caller asks by POST /approval-requests, or with the clients' onApprovalNeeded: 'ask'.",
        children: (rows) => /* @__PURE__ */ a3(RequestTable, { caption: "Approval requests", requests: rows })
      }
    )
  ] });
}

// src/console/pages/search.tsx
var UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
var ACTION_CODE = /^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/i;
function Search({ query }) {
  const wanted = (query.get("q") ?? "").trim();
  const [found, setFound] = d2();
  A2(() => {
    const leaving = new AbortController();
    const look = async (path) => {
      try {
        return (await get(path, { signal: leaving.signal })).data;
      } catch (error) {
        if (error instanceof ApiProblem && [400, 403, 404].includes(error.status)) return void 0;
        throw error;
      }
    };
    const find = async () => {
      try {
        const hits = wanted === "" ? [] : await hitsOf(wanted, look);
        const [only, ...others] = hits;
        if (only !== void 0 && others.length === 0) navigate(only.href, { replace: true });
        else setFound({ wanted, hits });
      } catch (error) {
        if (!isAborted(error)) setFound({ wanted, hits: [], problem: problemText(error) });
      }
    };
    void find();
    return () => leaving.abort();
  }, [wanted]);
  const isOfThis = found?.wanted === wanted;
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Search" }),
    isOfThis ? /* @__PURE__ */ a3(Found, { ...found }) : /* @__PURE__ */ a3("p", { class: "quiet", children: "Loading…" })
  ] });
}
function Found({ wanted, hits, problem }) {
  if (problem !== void 0) return /* @__PURE__ */ a3(Problem, { text: problem });
  if (hits.length === 0)
    return /* @__PURE__ */ a3(Empty, { children: [
      wanted === "" ? null : /* @__PURE__ */ a3($, { children: [
        "Nothing is named ",
        /* @__PURE__ */ a3(Said, { text: wanted }),
        ".",
        " "
      ] }),
      "Search for an id (of an execution, request, change, used approval or delivery), an action code, a capability such as ",
      /* @__PURE__ */ a3("code", { children: "vendor:pay" }),
      ", a caller, an approver or a policy, each by its whole name."
    ] });
  return /* @__PURE__ */ a3(Panel, { title: `${counted(hits.length, "place")} for this name`, children: /* @__PURE__ */ a3("ul", { class: "plain", children: hits.map(({ what, href }) => /* @__PURE__ */ a3("li", { children: /* @__PURE__ */ a3("a", { href, "data-row": true, children: /* @__PURE__ */ a3(Said, { text: what }) }) }, href)) }) });
}
function hitsOf(wanted, look) {
  if (UUID.test(wanted)) return byId(wanted.toLowerCase(), look);
  if (ACTION_CODE.test(wanted)) return byActionCode(wanted.toUpperCase(), look);
  return byName(wanted, look);
}
async function byId(id, look) {
  const places = [
    [`/transactions/${id}`, { what: "The execution", href: `/console/executions/${id}` }],
    [`/approval-requests/${id}`, { what: "The approval request", href: `/console/requests/${id}` }],
    [`/webhook-events/${id}`, { what: "The delivery", href: `/console/deliveries/${id}` }],
    ...Object.entries(changePaths).map(
      ([kind, path]) => [`${path}/${id}`, { what: "The change", href: `/console/changes/${kind}/${id}` }]
    )
  ];
  const found = await Promise.all(
    places.map(async ([path, hit]) => await look(path) === void 0 ? [] : [hit])
  );
  return [...found.flat(), ...await byApproval(id, look)];
}
async function byApproval(id, look) {
  const { consumedBy } = await look(`/approvals/${id}`) ?? {};
  if (consumedBy === void 0) return [];
  return [{ what: "The execution that used this approval", href: `/console/executions/${consumedBy}` }];
}
async function byActionCode(code, look) {
  const page = await look("/approval-requests?pageSize=100");
  return (page?.requests ?? []).filter(({ actionCode: actionCode2 }) => actionCode2 === code).map(({ request, status }) => ({
    what: `Request of ${request.requestedBy}: ${request.capability} → ${request.target}, ${status.toLowerCase()}`,
    href: `/console/requests/${request.requestId}`
  }));
}
var policyHit = (why) => (policy) => ({
  what: `${why} ${policy.name} ${policy.version}`,
  href: `/console/policies/${encodeURIComponent(policy.name)}/${encodeURIComponent(policy.version)}`
});
async function byName(name, look) {
  const [submitted, policies, governing, approvers] = await Promise.all([
    look(`/transactions?${new URLSearchParams({ callerId: name, pageSize: "1" })}`),
    look("/policies?pageSize=100"),
    look(
      `/policies/in-effect?${new URLSearchParams({ capability: name })}`
    ),
    look("/approvers")
  ]);
  const governs = governing?.policies ?? [];
  return [
    ...submitted?.length ? [{ what: `Executions by ${name}`, href: `/console/executions?${of("callerId", name)}` }] : [],
    ...governs.length > 0 ? [{ what: `Executions of ${name}`, href: `/console/executions?${of("contains", name)}` }] : [],
    ...governs.map(policyHit("Governed by policy")),
    ...(policies?.policies ?? []).filter((policy) => policy.name === name).map(policyHit("Policy")),
    ...approvers?.approvers.some(({ approverId }) => approverId === name) ? [{ what: `Keys of approver ${name}`, href: "/console/approvers" }] : []
  ];
}
function of(filter, value) {
  return new URLSearchParams({ [filter]: value }).toString();
}

// src/console/pages/index.ts
var pages = [
  { path: "/console", title: "Inbox", nav: "Inbox", view: Inbox },
  { path: "/console/requests", title: "Approval requests", nav: "Requests", view: Requests },
  { path: "/console/requests/{id}", title: "Approval request", view: Request },
  { path: "/console/changes", title: "Changes", nav: "Changes", view: Changes },
  { path: "/console/changes/{kind}/{id}", title: "Change", view: Change },
  { path: "/console/in-doubt", title: "In doubt", nav: "In doubt", view: InDoubt },
  { path: "/console/executions", title: "Executions", nav: "Executions", view: Executions },
  { path: "/console/executions/{id}", title: "Execution", view: Execution2 },
  { path: "/console/refusals", title: "Refusals", nav: "Refusals", view: Refusals },
  { path: "/console/refusals/{id}", title: "Refusal", view: Refusal },
  { path: "/console/policies", title: "Policies", nav: "Policies", view: Policies },
  { path: "/console/policies/{name}/{version}", title: "Policy", view: Policy },
  { path: "/console/approvers", title: "Approvers and keys", nav: "Approvers", view: Approvers },
  { path: "/console/passkey", title: "A passkey of yours", view: MakePasskey },
  { path: "/console/deliveries", title: "Deliveries", nav: "Deliveries", view: Deliveries },
  { path: "/console/deliveries/{id}", title: "Delivery", view: Delivery },
  { path: "/console/audit", title: "Audit", nav: "Audit", view: Audit },
  { path: "/console/search", title: "Search", view: Search },
  { path: "/console/live", title: "Live", nav: "Live", view: Live }
];

// src/console/shell.tsx
function Shell() {
  const me = useStore(session);
  if (me === void 0) return /* @__PURE__ */ a3(Unreachable, {});
  return me === null ? /* @__PURE__ */ a3(Login, {}) : /* @__PURE__ */ a3(Frame, { me });
}
function Frame({ me }) {
  const { path, query } = useStore(place);
  const found = fit(pages, path);
  const main = T2(null);
  const [helps, setHelps] = d2(false);
  useTitle(found?.page.title ?? "Not found");
  A2(() => main.current?.focus({ preventScroll: true }), [path]);
  A2(() => followKeys(() => setHelps((shown) => !shown)), []);
  const Page = found?.page.view;
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("a", { class: "skip", href: "#main", children: "Skip to the page" }),
    /* @__PURE__ */ a3("header", { class: "top", children: [
      /* @__PURE__ */ a3("a", { class: "brand", href: "/console", children: [
        /* @__PURE__ */ a3("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", children: [
          /* @__PURE__ */ a3("rect", { width: "16", height: "16", rx: "3" }),
          /* @__PURE__ */ a3("path", { d: "M4 8.5l3 3 5.5-7" })
        ] }),
        "Countersign"
      ] }),
      /* @__PURE__ */ a3("nav", { "aria-label": "Console", children: pages.map(
        ({ path: to, nav }) => nav === void 0 ? null : /* @__PURE__ */ a3("a", { href: to, "aria-current": isWithin(path, to) ? "page" : void 0, children: nav }, to)
      ) }),
      /* @__PURE__ */ a3(SearchBox, { query }),
      /* @__PURE__ */ a3("div", { class: "who", children: [
        /* @__PURE__ */ a3("span", { title: me.approverId === null ? me.credentialHolderType : `approver ${me.approverId}`, children: me.callerId }),
        /* @__PURE__ */ a3("button", { type: "button", onClick: () => void logOut(), children: "Log out" })
      ] })
    ] }),
    /* @__PURE__ */ a3(Unreachable, {}),
    /* @__PURE__ */ a3("main", { id: "main", ref: main, tabIndex: -1, children: found === void 0 || Page === void 0 ? /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Not found" }),
      /* @__PURE__ */ a3("p", { children: [
        "There is no such page. ",
        /* @__PURE__ */ a3("a", { href: "/console", children: "Go to the inbox" }),
        "."
      ] })
    ] }) : /* @__PURE__ */ a3(Page, { params: found.params, query, me }, path) }),
    /* @__PURE__ */ a3("footer", { class: "bottom", children: [
      /* @__PURE__ */ a3("span", { children: [
        "Countersign ",
        me.version
      ] }),
      /* @__PURE__ */ a3("span", { children: location.host }),
      /* @__PURE__ */ a3("span", { children: [
        "Session over ",
        /* @__PURE__ */ a3(Time, { at: me.expiresAt })
      ] }),
      /* @__PURE__ */ a3("button", { type: "button", onClick: () => setHelps(true), children: "Keys: ?" })
    ] }),
    helps && /* @__PURE__ */ a3(Help, { onClose: () => setHelps(false) })
  ] });
}
function search(event) {
  event.preventDefault();
  const wanted = fieldOf(event.currentTarget, "q");
  if (wanted !== "") navigate(`/console/search?${new URLSearchParams({ q: wanted }).toString()}`);
}
function SearchBox({ query }) {
  return /* @__PURE__ */ a3("form", { role: "search", onSubmit: search, children: /* @__PURE__ */ a3(
    "input",
    {
      type: "search",
      name: "q",
      "aria-label": "Search",
      placeholder: "Id, caller, capability",
      defaultValue: query.get("q") ?? "",
      maxLength: 200,
      "data-search": true
    }
  ) });
}
function isWithin(path, page) {
  return path === page || page !== "/console" && path.startsWith(`${page}/`);
}
function Unreachable() {
  const since = useStore(unreachableSince);
  if (since === null) return null;
  return /* @__PURE__ */ a3("p", { class: "banner", role: "status", children: [
    "The service has not answered since ",
    /* @__PURE__ */ a3(Time, { at: new Date(since).toISOString() }),
    ". What you see may be out of date."
  ] });
}
function Login() {
  const [problem, setProblem] = d2();
  const [busy, setBusy] = d2(false);
  useTitle("Log in");
  const submit = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const key = fieldOf(form, "key");
    setBusy(true);
    setProblem(void 0);
    try {
      await logIn(key);
    } catch (error) {
      const text2 = problemText(error);
      setProblem(text2 === "authentication required" ? "This key is not known here." : text2);
    } finally {
      setBusy(false);
    }
  };
  return /* @__PURE__ */ a3("main", { class: "login", children: [
    /* @__PURE__ */ a3("h1", { children: "Countersign" }),
    /* @__PURE__ */ a3("form", { onSubmit: (event) => void submit(event), children: [
      /* @__PURE__ */ a3("label", { children: [
        "Your key",
        /* @__PURE__ */ a3("input", { name: "key", type: "password", required: true, autocomplete: "current-password", placeholder: "csk_…" })
      ] }),
      /* @__PURE__ */ a3("button", { type: "submit", class: "primary", disabled: busy, children: "Log in" }),
      /* @__PURE__ */ a3(Problem, { text: problem })
    ] }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: [
      "For humans and auditors: a key whose caller is a ",
      /* @__PURE__ */ a3("code", { children: "USER" }),
      " or has ",
      /* @__PURE__ */ a3("code", { children: "readAll" }),
      ". The session lasts eight hours, or half an hour without use. It lets you look; what you decide needs your signature."
    ] })
  ] });
}
var KEYS = [
  ["j / k", "next or previous row"],
  ["Enter", "open the row"],
  ["/", "search"],
  ["g i", "inbox"],
  ["g e", "executions"],
  ["g l", "live"],
  ["?", "this help"]
];
function Help({ onClose }) {
  const dialog = T2(null);
  A2(() => dialog.current?.showModal(), []);
  return /* @__PURE__ */ a3("dialog", { ref: dialog, onClose, "aria-labelledby": "keys", children: [
    /* @__PURE__ */ a3("h2", { id: "keys", children: "Keys" }),
    /* @__PURE__ */ a3("dl", { class: "members", children: KEYS.map(([key, what]) => /* @__PURE__ */ a3("div", { children: [
      /* @__PURE__ */ a3("dt", { children: /* @__PURE__ */ a3("kbd", { children: key }) }),
      /* @__PURE__ */ a3("dd", { children: what })
    ] }, key)) }),
    /* @__PURE__ */ a3("p", { class: "quiet", children: "No key approves or declines anything." }),
    /* @__PURE__ */ a3("form", { method: "dialog", children: /* @__PURE__ */ a3("button", { type: "submit", children: "Close" }) })
  ] });
}
var GOES = {
  i: "/console",
  e: "/console/executions",
  l: "/console/live"
};
function followKeys(toggleHelp) {
  let wentG = false;
  const onKey = (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof Element && target.closest("input, select, textarea, dialog") !== null) return;
    const goes = wentG ? GOES[key] : void 0;
    wentG = key === "g";
    if (goes !== void 0) navigate(goes);
    else if (key === "j" || key === "k") moveRow(key === "j" ? 1 : -1);
    else if (key === "?") toggleHelp();
    else if (key === "/") document.querySelector("[data-search]")?.select();
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}
function moveRow(by) {
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[at === -1 ? by === 1 ? 0 : rows.length - 1 : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
}

// src/console/main.tsx
followLinks();
Q(/* @__PURE__ */ a3(Shell, {}), document.body);
void loadSession();


/*
node_modules/@noble/curves

The MIT License (MIT)

Copyright (c) 2022 Paul Miller (https://paulmillr.com)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the “Software”), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/

/*
node_modules/@noble/hashes

The MIT License (MIT)

Copyright (c) 2022 Paul Miller (https://paulmillr.com)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the “Software”), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/

/*
node_modules/@noble/post-quantum

The MIT License (MIT)

Copyright (c) 2024 Paul Miller (https://paulmillr.com)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the “Software”), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED “AS IS”, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/

/*
node_modules/preact

The MIT License (MIT)

Copyright (c) 2015-present Jason Miller

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/

/*
node_modules/qr

Apache License
                           Version 2.0, January 2004
                        http://www.apache.org/licenses/

   TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION

   1. Definitions.

      "License" shall mean the terms and conditions for use, reproduction,
      and distribution as defined by Sections 1 through 9 of this document.

      "Licensor" shall mean the copyright owner or entity authorized by
      the copyright owner that is granting the License.

      "Legal Entity" shall mean the union of the acting entity and all
      other entities that control, are controlled by, or are under common
      control with that entity. For the purposes of this definition,
      "control" means (i) the power, direct or indirect, to cause the
      direction or management of such entity, whether by contract or
      otherwise, or (ii) ownership of fifty percent (50%) or more of the
      outstanding shares, or (iii) beneficial ownership of such entity.

      "You" (or "Your") shall mean an individual or Legal Entity
      exercising permissions granted by this License.

      "Source" form shall mean the preferred form for making modifications,
      including but not limited to software source code, documentation
      source, and configuration files.

      "Object" form shall mean any form resulting from mechanical
      transformation or translation of a Source form, including but
      not limited to compiled object code, generated documentation,
      and conversions to other media types.

      "Work" shall mean the work of authorship, whether in Source or
      Object form, made available under the License, as indicated by a
      copyright notice that is included in or attached to the work
      (an example is provided in the Appendix below).

      "Derivative Works" shall mean any work, whether in Source or Object
      form, that is based on (or derived from) the Work and for which the
      editorial revisions, annotations, elaborations, or other modifications
      represent, as a whole, an original work of authorship. For the purposes
      of this License, Derivative Works shall not include works that remain
      separable from, or merely link (or bind by name) to the interfaces of,
      the Work and Derivative Works thereof.

      "Contribution" shall mean any work of authorship, including
      the original version of the Work and any modifications or additions
      to that Work or Derivative Works thereof, that is intentionally
      submitted to Licensor for inclusion in the Work by the copyright owner
      or by an individual or Legal Entity authorized to submit on behalf of
      the copyright owner. For the purposes of this definition, "submitted"
      means any form of electronic, verbal, or written communication sent
      to the Licensor or its representatives, including but not limited to
      communication on electronic mailing lists, source code control systems,
      and issue tracking systems that are managed by, or on behalf of, the
      Licensor for the purpose of discussing and improving the Work, but
      excluding communication that is conspicuously marked or otherwise
      designated in writing by the copyright owner as "Not a Contribution."

      "Contributor" shall mean Licensor and any individual or Legal Entity
      on behalf of whom a Contribution has been received by Licensor and
      subsequently incorporated within the Work.

   2. Grant of Copyright License. Subject to the terms and conditions of
      this License, each Contributor hereby grants to You a perpetual,
      worldwide, non-exclusive, no-charge, royalty-free, irrevocable
      copyright license to reproduce, prepare Derivative Works of,
      publicly display, publicly perform, sublicense, and distribute the
      Work and such Derivative Works in Source or Object form.

   3. Grant of Patent License. Subject to the terms and conditions of
      this License, each Contributor hereby grants to You a perpetual,
      worldwide, non-exclusive, no-charge, royalty-free, irrevocable
      (except as stated in this section) patent license to make, have made,
      use, offer to sell, sell, import, and otherwise transfer the Work,
      where such license applies only to those patent claims licensable
      by such Contributor that are necessarily infringed by their
      Contribution(s) alone or by combination of their Contribution(s)
      with the Work to which such Contribution(s) was submitted. If You
      institute patent litigation against any entity (including a
      cross-claim or counterclaim in a lawsuit) alleging that the Work
      or a Contribution incorporated within the Work constitutes direct
      or contributory patent infringement, then any patent licenses
      granted to You under this License for that Work shall terminate
      as of the date such litigation is filed.

   4. Redistribution. You may reproduce and distribute copies of the
      Work or Derivative Works thereof in any medium, with or without
      modifications, and in Source or Object form, provided that You
      meet the following conditions:

      (a) You must give any other recipients of the Work or
          Derivative Works a copy of this License; and

      (b) You must cause any modified files to carry prominent notices
          stating that You changed the files; and

      (c) You must retain, in the Source form of any Derivative Works
          that You distribute, all copyright, patent, trademark, and
          attribution notices from the Source form of the Work,
          excluding those notices that do not pertain to any part of
          the Derivative Works; and

      (d) If the Work includes a "NOTICE" text file as part of its
          distribution, then any Derivative Works that You distribute must
          include a readable copy of the attribution notices contained
          within such NOTICE file, excluding those notices that do not
          pertain to any part of the Derivative Works, in at least one
          of the following places: within a NOTICE text file distributed
          as part of the Derivative Works; within the Source form or
          documentation, if provided along with the Derivative Works; or,
          within a display generated by the Derivative Works, if and
          wherever such third-party notices normally appear. The contents
          of the NOTICE file are for informational purposes only and
          do not modify the License. You may add Your own attribution
          notices within Derivative Works that You distribute, alongside
          or as an addendum to the NOTICE text from the Work, provided
          that such additional attribution notices cannot be construed
          as modifying the License.

      You may add Your own copyright statement to Your modifications and
      may provide additional or different license terms and conditions
      for use, reproduction, or distribution of Your modifications, or
      for any such Derivative Works as a whole, provided Your use,
      reproduction, and distribution of the Work otherwise complies with
      the conditions stated in this License.

   5. Submission of Contributions. Unless You explicitly state otherwise,
      any Contribution intentionally submitted for inclusion in the Work
      by You to the Licensor shall be under the terms and conditions of
      this License, without any additional terms or conditions.
      Notwithstanding the above, nothing herein shall supersede or modify
      the terms of any separate license agreement you may have executed
      with Licensor regarding such Contributions.

   6. Trademarks. This License does not grant permission to use the trade
      names, trademarks, service marks, or product names of the Licensor,
      except as required for reasonable and customary use in describing the
      origin of the Work and reproducing the content of the NOTICE file.

   7. Disclaimer of Warranty. Unless required by applicable law or
      agreed to in writing, Licensor provides the Work (and each
      Contributor provides its Contributions) on an "AS IS" BASIS,
      WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or
      implied, including, without limitation, any warranties or conditions
      of TITLE, NON-INFRINGEMENT, MERCHANTABILITY, or FITNESS FOR A
      PARTICULAR PURPOSE. You are solely responsible for determining the
      appropriateness of using or redistributing the Work and assume any
      risks associated with Your exercise of permissions under this License.

   8. Limitation of Liability. In no event and under no legal theory,
      whether in tort (including negligence), contract, or otherwise,
      unless required by applicable law (such as deliberate and grossly
      negligent acts) or agreed to in writing, shall any Contributor be
      liable to You for damages, including any direct, indirect, special,
      incidental, or consequential damages of any character arising as a
      result of this License or out of the use or inability to use the
      Work (including but not limited to damages for loss of goodwill,
      work stoppage, computer failure or malfunction, or any and all
      other commercial damages or losses), even if such Contributor
      has been advised of the possibility of such damages.

   9. Accepting Warranty or Additional Liability. While redistributing
      the Work or Derivative Works thereof, You may choose to offer,
      and charge a fee for, acceptance of support, warranty, indemnity,
      or other liability obligations and/or rights consistent with this
      License. However, in accepting such obligations, You may act only
      on Your own behalf and on Your sole responsibility, not on behalf
      of any other Contributor, and only if You agree to indemnify,
      defend, and hold each Contributor harmless for any liability
      incurred by, or claims asserted against, such Contributor by reason
      of your accepting any such warranty or additional liability.

   END OF TERMS AND CONDITIONS

   APPENDIX: How to apply the Apache License to your work.

      To apply the Apache License to your work, attach the following
      boilerplate notice, with the fields enclosed by brackets "[]"
      replaced with your own identifying information. (Don't include
      the brackets!)  The text should be enclosed in the appropriate
      comment syntax for the file format. We also recommend that a
      file or class name and description of purpose be included on the
      same "printed page" as the copyright notice for easier
      identification within third-party archives.

   Copyright [yyyy] [name of copyright owner]

   Licensed under the Apache License, Version 2.0 (the "License");
   you may not use this file except in compliance with the License.
   You may obtain a copy of the License at

       http://www.apache.org/licenses/LICENSE-2.0

   Unless required by applicable law or agreed to in writing, software
   distributed under the License is distributed on an "AS IS" BASIS,
   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
   See the License for the specific language governing permissions and
   limitations under the License.
*/
