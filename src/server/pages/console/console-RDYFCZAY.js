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
} from "./chunk-3CMROB6U.js";

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
  constructor(status, message, code) {
    super(message);
    this.name = "ApiProblem";
    this.status = status;
    this.code = code;
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
  throw new ApiProblem(response.status, error, code);
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
    const fits = pattern.every((part, i3) => {
      const segment = segments[i3] ?? "";
      if (!part.startsWith("{")) return part === segment;
      params[part.slice(1, -1)] = decodeURIComponent(segment);
      return true;
    });
    if (fits) return { page, params };
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
function useLoaded(path, everyMs) {
  const [state, setState] = d2({});
  const [round, setRound] = d2(0);
  A2(() => {
    if (path === void 0) return void 0;
    const leaving = new AbortController();
    let timer;
    const load = async () => {
      if (document.visibilityState === "visible") {
        try {
          const { data, next } = await get(path, { signal: leaving.signal });
          setState({ path, data, ...next === void 0 ? {} : { next } });
        } catch (error) {
          if (isAborted(error)) return;
          setState((before) => ({ ...before, problem: problemText(error) }));
        }
      }
      if (everyMs !== void 0 && session.get() !== null) timer = setTimeout(() => void load(), everyMs);
    };
    void load();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
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
var BAD = ["DECLINED", "REJECTED", "FAILED", "REVOKED", "disabled", "contradicted", "ERRORED", "WARNING"];
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
function Members({ of }) {
  return /* @__PURE__ */ a3("dl", { class: "members", children: Object.entries(of).map(([name, value]) => /* @__PURE__ */ a3("div", { class: name.length > 24 ? "long" : "", children: [
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
  const approvers = useLoaded(
    me.credentialHolderType === "USER" ? "/approvers" : void 0,
    3e4
  );
  const own = useLoaded("/.well-known/jwks.json", 3e4);
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Approvers and keys" }),
    me.credentialHolderType === "USER" && /* @__PURE__ */ a3(Panel, { title: "Approvers", children: [
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
      /* @__PURE__ */ a3("p", { children: [
        /* @__PURE__ */ a3("a", { href: "/console/passkey", children: "Make a passkey" }),
        " that approves, or that resolves changes."
      ] })
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

// src/console/components/changes.tsx
var changePaths = {
  policy: "/policies/pending-changes",
  approver: "/approvers/changes",
  "external-connector": "/external-connectors/changes",
  "webhook-rules": "/webhook-rules/changes",
  "event-endpoint": "/event-endpoints/changes"
};
function useOpenChanges(everyMs) {
  const [state, setState] = d2({});
  A2(() => {
    if (everyMs === void 0) return void 0;
    const leaving = new AbortController();
    let timer;
    const load = async () => {
      if (document.visibilityState === "visible") await loadAll();
      if (leaving.signal.aborted) return;
      timer = setTimeout(() => void load(), everyMs);
    };
    const loadAll = async () => {
      try {
        const pages2 = await Promise.all(
          Object.values(changePaths).map(
            (path) => get(`${path}?status=PENDING_APPROVAL`, { signal: leaving.signal })
          )
        );
        setState({ data: pages2.flatMap(({ data }) => data.changes) });
      } catch (error) {
        if (!isAborted(error)) setState((before) => ({ ...before, problem: problemText(error) }));
      }
    };
    void load();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [everyMs]);
  return { data: state.data, problem: state.problem, next: void 0, reload: () => void 0 };
}
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

// src/console/hashing.ts
function sha256Hex(text2) {
  return bytesToHex(sha256(utf8ToBytes(text2)));
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
  now
}) {
  return {
    version: 1,
    nonce,
    changeId,
    action,
    changeHash,
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
async function stepUpBy(passkey, change, action) {
  const payload = stepUpPayload(change, { action, nonce: aNonce(), now: /* @__PURE__ */ new Date() });
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
  const kind = query.get("kind") ?? "policy";
  const loaded = useLoaded(
    listPath(changePaths[kind] ?? changePaths["policy"], query, ["status", "cursor"]),
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
        empty: `No such change of ${kind.replace("-", " ")}. The handbook's chapter Governing proposes one.`,
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
        kind === "policy" && data.status === "PENDING_APPROVAL" && /* @__PURE__ */ a3(Impact, { policy: data.proposed }),
        data.status === "PENDING_APPROVAL" && /* @__PURE__ */ a3(Resolve, { change: data, me })
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
function Resolve({ change, me }) {
  const { changeId, kind, proposedBy } = change;
  const path = changePaths[kind] ?? "";
  if (proposedBy === me.callerId)
    return /* @__PURE__ */ a3(Panel, { title: "Resolve", children: /* @__PURE__ */ a3("p", { children: "You proposed this change, so another human must approve or reject it." }) });
  const { stepUpPasskey } = me;
  const url = `${location.origin}${path}/${changeId}`;
  if (stepUpPasskey !== null)
    return /* @__PURE__ */ a3(Panel, { title: "Resolve", children: /* @__PURE__ */ a3(ResolveBy, { own: stepUpPasskey, change, path: `${path}/${changeId}` }, changeId) });
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
    ] })
  ] });
}
function ResolveBy({
  own,
  change,
  path
}) {
  const { waits, done, problem, run } = useSigning();
  const resolve = (action, reason = {}) => run(async () => {
    const by = { ...own, algorithm: algorithmOfPem(own.publicKeyPem) };
    const stepUpAuthorization = await stepUpBy(by, change, action);
    await post(`${path}/${action}`, { stepUpAuthorization, ...reason });
  });
  const reject = (event) => {
    event.preventDefault();
    void resolve("reject", { rejectionReason: fieldOf(event.currentTarget, "reason") });
  };
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("p", { children: "Your signature is for exactly this change, and counts for two minutes." }),
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
function Impact({ policy }) {
  const [state, setState] = d2({
    flips: [],
    unchanged: 0,
    skipped: 0,
    running: false,
    done: false
  });
  const [problem, setProblem] = d2();
  const run = async () => {
    setProblem(void 0);
    let all = { flips: [], unchanged: 0, skipped: 0, running: true, done: false };
    setState(all);
    try {
      let cursor;
      do {
        const chunk = await post("/sandbox/policies/simulate", {
          policy,
          ...cursor === void 0 ? {} : { cursor }
        });
        all = {
          flips: [...all.flips, ...chunk.flips],
          unchanged: all.unchanged + chunk.unchanged,
          skipped: all.skipped + chunk.skipped,
          running: !chunk.complete,
          done: chunk.complete
        };
        setState(all);
        cursor = chunk.complete ? void 0 : chunk.next;
      } while (cursor !== void 0);
    } catch (error) {
      if (!isAborted(error)) setProblem(problemText(error));
      setState({ ...all, running: false });
    }
  };
  const { flips, unchanged, skipped, running, done } = state;
  return /* @__PURE__ */ a3(Panel, { title: "What it would have changed", children: [
    /* @__PURE__ */ a3("p", { children: [
      "Run the proposed policy on the decisions of the past. Nothing is executed.",
      " ",
      /* @__PURE__ */ a3("button", { type: "button", onClick: () => void run(), disabled: running, children: running ? "Running…" : done ? "Run again" : "Run" })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    (running || done) && /* @__PURE__ */ a3("p", { role: "status", children: [
      counted(flips.length, "decision"),
      " would be another, ",
      unchanged,
      " the same, ",
      skipped,
      " left out."
    ] }),
    /* @__PURE__ */ a3("ul", { class: "plain", children: flips.slice(0, 100).map((flip) => /* @__PURE__ */ a3("li", { children: [
      /* @__PURE__ */ a3("a", { href: `/console/executions/${flip.businessTransactionId}`, children: /* @__PURE__ */ a3("code", { children: flip.businessTransactionId }) }),
      /* @__PURE__ */ a3(Members, { of: flip })
    ] }, flip.businessTransactionId)) })
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
function Deliveries({ query, me }) {
  const deliveries = useLoaded(
    listPath("/webhook-events", query, ["provider", "outcome", "cursor"]),
    5e3
  );
  const isHuman = me.credentialHolderType === "USER";
  const endpoints = useLoaded(
    isHuman ? "/event-endpoints" : void 0,
    1e4
  );
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
    isHuman && /* @__PURE__ */ a3(Panel, { title: "Events that are pushed", children: /* @__PURE__ */ a3(
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

// src/console/pages/executions.tsx
var UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
function Executions({ query }) {
  const loaded = useLoaded(listPath("/transactions", query, ["cursor"]), 1e4);
  const wanted = (query.get("contains") ?? "").toLowerCase();
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("h1", { children: "Executions" }),
    /* @__PURE__ */ a3(
      "form",
      {
        class: "filters",
        onSubmit: (event) => {
          event.preventDefault();
          const id = fieldOf(event.currentTarget, "id");
          if (UUID.test(id)) navigate(`/console/executions/${id}`);
        },
        children: [
          /* @__PURE__ */ a3("label", { class: "filter", children: [
            "Open by id",
            /* @__PURE__ */ a3("input", { name: "id", placeholder: "businessTransactionId", pattern: UUID.source, "data-filter": "id" })
          ] }),
          /* @__PURE__ */ a3(TextFilter, { label: "On this page", name: "contains", placeholder: "action, target, caller, policy" })
        ]
      }
    ),
    /* @__PURE__ */ a3(
      Listed,
      {
        loaded,
        rowsOf: (rows) => rows.filter((row) => textOf(row).includes(wanted)),
        empty: wanted === "" ? "Nothing was executed yet. The first start prints a curl line to paste." : "Nothing on this page fits the filter. Older ones are on the next pages.",
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
function Shown({
  id,
  text: text2,
  record
}) {
  const { transaction } = record;
  const [execution] = record.executions;
  const approvals = Object.values(execution?.decision.verifiedSignals ?? {}).flatMap(
    (signal) => signal.approvals ?? []
  );
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: transaction.intent.action }) }),
      /* @__PURE__ */ a3(Badge, { status: execution?.status ?? "unknown" }),
      /* @__PURE__ */ a3(Time, { at: record.createdAt })
    ] }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What was done", children: [
          /* @__PURE__ */ a3("p", { class: "sentence", children: [
            /* @__PURE__ */ a3(Said, { text: transaction.metadata.submittedBy }),
            " did ",
            /* @__PURE__ */ a3(Said, { text: transaction.intent.action }),
            " ",
            "on ",
            /* @__PURE__ */ a3(Said, { text: transaction.intent.target }),
            transaction.authority.principalId === transaction.metadata.submittedBy ? null : /* @__PURE__ */ a3($, { children: [
              ", in the name of ",
              /* @__PURE__ */ a3(Said, { text: transaction.authority.principalId })
            ] }),
            "."
          ] }),
          /* @__PURE__ */ a3(Members, { of: transaction.intent.parameters })
        ] }),
        /* @__PURE__ */ a3(Panel, { title: "How it went", children: /* @__PURE__ */ a3("ol", { class: "timeline", children: [
          /* @__PURE__ */ a3(Step, { name: "Submitted", at: transaction.createdAt, children: [
            "by ",
            /* @__PURE__ */ a3(Said, { text: transaction.metadata.submittedBy })
          ] }),
          execution !== void 0 && /* @__PURE__ */ a3($, { children: [
            /* @__PURE__ */ a3(Step, { name: "Decided", at: execution.decision.evaluatedAt, children: [
              execution.decision.outcome.toLowerCase(),
              " by rule",
              " ",
              /* @__PURE__ */ a3("code", { children: execution.decision.matchedRuleId ?? "none" }),
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
              /* @__PURE__ */ a3(Said, { text: execution.decision.reason })
            ] }),
            approvals.map(({ payload }) => /* @__PURE__ */ a3(
              Step,
              {
                name: "Approved",
                at: payload.issuedAt,
                children: [
                  "by ",
                  /* @__PURE__ */ a3(Said, { text: payload.approverId }),
                  " with key ",
                  /* @__PURE__ */ a3(Said, { text: payload.keyId })
                ]
              },
              `${payload.approverId}:${payload.keyId}`
            )),
            /* @__PURE__ */ a3(Step, { name: "Authorized", at: record.authorization.payload.authorizedAt, children: "once, for this transaction" }),
            /* @__PURE__ */ a3(Step, { name: "Sent", at: execution.startedAt, children: "to the connector" }),
            /* @__PURE__ */ a3(Step, { name: "Reported", at: execution.evidence.executedAt, children: execution.evidence.success ? "as done" : "as failed" })
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
        ] }) }),
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
          /* @__PURE__ */ a3(Members, { of: execution?.decision.signals ?? {} }),
          Object.entries(execution?.decision.verifiedSignals ?? {}).map(([name, { by }]) => /* @__PURE__ */ a3("p", { children: [
            /* @__PURE__ */ a3("code", { children: oneLine(name) }),
            " verified by ",
            by,
            "."
          ] }, name))
        ] }),
        execution !== void 0 && /* @__PURE__ */ a3(Panel, { title: "What the connector reported", children: [
          /* @__PURE__ */ a3(Members, { of: execution.evidence.result }),
          /* @__PURE__ */ a3(Members, { of: execution.evidence.connector })
        ] }),
        /* @__PURE__ */ a3(Panel, { title: "Take it with you", children: [
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
        ] })
      ] })
    ] })
  ] });
}
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
function Verification({ text: text2, approvals }) {
  const [report, setReport] = d2();
  const [problem, setProblem] = d2();
  A2(() => {
    const verify = async () => {
      try {
        const [{ verifyEvidence }, { data: own }, ...humans] = await Promise.all([
          import("./verify-ML6RPU54.js"),
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
function WithoutRecord({ id }) {
  const intent = useLoaded(`/execution-intents/${encodeURIComponent(id)}`, 5e3);
  const refusal = useLoaded(`/refusal/${encodeURIComponent(id)}`);
  const { data } = intent;
  if (refusal.data !== void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Refused" }),
      /* @__PURE__ */ a3("p", { children: [
        "This transaction was refused. ",
        /* @__PURE__ */ a3("a", { href: `/console/refusals/${id}`, children: "See the refusal" }),
        "."
      ] })
    ] });
  if (data === void 0)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Execution" }),
      /* @__PURE__ */ a3(Problem, { text: intent.problem && "There is no execution with this id, or it is not yours to see." })
    ] });
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: data.action }) }),
      /* @__PURE__ */ a3(Badge, { status: data.inDoubt ? "IN_DOUBT" : data.state })
    ] }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What is known", children: [
          /* @__PURE__ */ a3("p", { class: "sentence", children: [
            /* @__PURE__ */ a3(Said, { text: data.callerId }),
            " had ",
            /* @__PURE__ */ a3(Said, { text: data.action }),
            " on ",
            /* @__PURE__ */ a3(Said, { text: data.target }),
            " ",
            "released ",
            /* @__PURE__ */ a3(Time, { at: data.releasedAt }),
            ". An answer was due ",
            /* @__PURE__ */ a3(Time, { at: data.deadline }),
            "."
          ] }),
          /* @__PURE__ */ a3("ol", { class: "timeline", children: data.transitions.map(({ transition }) => /* @__PURE__ */ a3(
            Step,
            {
              name: `${transition.from} → ${transition.to}`,
              at: transition.at,
              children: [
                "by ",
                /* @__PURE__ */ a3(Said, { text: transition.by }),
                " ",
                transition.note !== void 0 && /* @__PURE__ */ a3(Said, { text: transition.note })
              ]
            },
            transition.transitionId
          )) })
        ] }),
        data.inDoubt && /* @__PURE__ */ a3(Panel, { title: "Close it", children: [
          /* @__PURE__ */ a3("p", { children: [
            "Look up at the system that carries the action out whether ",
            /* @__PURE__ */ a3(Said, { text: data.target }),
            " was acted on for this id. Then say what you found, with your key. Nothing is executed again."
          ] }),
          /* @__PURE__ */ a3(
            Command,
            {
              text: `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"resolution": "EXECUTED", "note": "<what you found, and where>"}' \\
  ${location.origin}/execution-intents/${id}/resolve`
            }
          ),
          /* @__PURE__ */ a3("p", { class: "quiet", children: [
            /* @__PURE__ */ a3("code", { children: "NOT_EXECUTED" }),
            " where it did not happen."
          ] })
        ] })
      ] }),
      /* @__PURE__ */ a3("div", { children: /* @__PURE__ */ a3(Panel, { title: "What was sent", children: /* @__PURE__ */ a3(Members, { of: data }) }) })
    ] })
  ] });
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
var REST_EVERY_MS = 3e4;
function Inbox({ me }) {
  const isHuman = me.credentialHolderType === "USER";
  const mine = me.approverId === null ? "status=PENDING" : "status=PENDING&waitingFor=me";
  const requests = useLoaded(`/approval-requests?${mine}`, REQUESTS_EVERY_MS);
  const changes = useOpenChanges(isHuman ? REST_EVERY_MS : void 0);
  const inDoubt = useLoaded(
    isHuman ? "/execution-intents/unfinalized" : void 0,
    REST_EVERY_MS
  );
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
    isHuman && /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3(Panel, { title: "Changes that another human must resolve", children: /* @__PURE__ */ a3(
        Listed,
        {
          loaded: changes,
          rowsOf: (rows) => rows.filter(({ proposedBy }) => proposedBy !== me.callerId),
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
    ] })
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
  const max = Math.max(1, ...seconds.flatMap((second) => lines.map(({ of }) => of(second))));
  const x2 = (at) => WIDTH - (last - at) / SECONDS * WIDTH;
  const y3 = (value) => HEIGHT - value / max * (HEIGHT - 4) - 2;
  return /* @__PURE__ */ a3("figure", { class: "chart", children: [
    /* @__PURE__ */ a3("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, preserveAspectRatio: "none", children: lines.map(({ name, of }, i3) => /* @__PURE__ */ a3(
      "polyline",
      {
        class: `line line-${i3}`,
        points: seconds.map((second) => `${x2(second.at).toFixed(1)},${y3(of(second)).toFixed(1)}`).join(" ")
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
                { title: "Holds", cell: ({ verified }) => /* @__PURE__ */ a3("code", { children: jsonText(verified) }) },
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
  return /* @__PURE__ */ a3(Shown2, { asked: request, me, problem });
}
function Shown2({
  asked,
  me,
  problem
}) {
  const { request, status, expiresAt, approvals, eligible, missing } = asked;
  const hash = requestHash(request, sha256Hex);
  const code = actionCode(request, sha256Hex);
  const differs = hash !== asked.requestHash || code !== asked.actionCode;
  const isOpen = status === "PENDING" || status === "APPROVED";
  if (differs)
    return /* @__PURE__ */ a3($, { children: [
      /* @__PURE__ */ a3("h1", { children: "Do not sign this" }),
      /* @__PURE__ */ a3(Problem, { text: "The service names another hash or action code than this page computes from what it was sent. Somebody changes what you see. Tell the operator, and keep this page." }),
      /* @__PURE__ */ a3(
        Members,
        {
          of: {
            named: { requestHash: asked.requestHash, actionCode: asked.actionCode },
            computed: { requestHash: hash, actionCode: code }
          }
        }
      )
    ] });
  return /* @__PURE__ */ a3($, { children: [
    /* @__PURE__ */ a3("header", { class: "heading", children: [
      /* @__PURE__ */ a3("h1", { children: /* @__PURE__ */ a3(Said, { text: request.capability }) }),
      /* @__PURE__ */ a3(Badge, { status }),
      isOpen ? /* @__PURE__ */ a3(Countdown, { to: expiresAt }) : /* @__PURE__ */ a3(Time, { at: asked.closed?.closedAt ?? request.createdAt })
    ] }),
    /* @__PURE__ */ a3(Problem, { text: problem }),
    /* @__PURE__ */ a3("div", { class: "columns", children: [
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(Panel, { title: "What will happen", children: [
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
          /* @__PURE__ */ a3(Members, { of: request.parameters }),
          request.note !== "" && /* @__PURE__ */ a3("p", { children: [
            "Note by the requester, which nobody has checked: ",
            /* @__PURE__ */ a3(Said, { text: request.note })
          ] })
        ] }),
        /* @__PURE__ */ a3(Panel, { title: "Compare", action: /* @__PURE__ */ a3(Copy, { text: code }), children: [
          /* @__PURE__ */ a3("p", { class: "code", children: code }),
          /* @__PURE__ */ a3("p", { class: "quiet", children: [
            "Ask whoever runs ",
            /* @__PURE__ */ a3(Said, { text: request.requestedBy }),
            ", over another channel, for the action code that they see. It must be this one: their program computed it from what it sent, and this page from what you see."
          ] })
        ] }),
        /* @__PURE__ */ a3(Panel, { title: "Approvals", children: [
          /* @__PURE__ */ a3("p", { children: [
            counted(request.quorum, "approval"),
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
            isOpen && eligible.length > 0 && /* @__PURE__ */ a3("li", { class: "quiet", children: [
              "Could still sign: ",
              /* @__PURE__ */ a3(Said, { text: eligible.join(", ") })
            ] })
          ] }),
          asked.closed !== void 0 && /* @__PURE__ */ a3("p", { children: [
            asked.closed.status === "DECLINED" ? "Declined" : "Withdrawn",
            " by",
            " ",
            /* @__PURE__ */ a3(Said, { text: asked.closed.by }),
            ": ",
            /* @__PURE__ */ a3(Said, { text: asked.closed.reason ?? "" })
          ] })
        ] }),
        isOpen && /* @__PURE__ */ a3(Decide, { asked, me })
      ] }),
      /* @__PURE__ */ a3("div", { children: [
        /* @__PURE__ */ a3(
          Panel,
          {
            title: "What a signature covers",
            action: /* @__PURE__ */ a3(Copy, { text: canonicalize(request), label: "Copy the bytes" }),
            children: [
              /* @__PURE__ */ a3(Members, { of: request }),
              /* @__PURE__ */ a3("details", { children: [
                /* @__PURE__ */ a3("summary", { children: "Canonical bytes (RFC 8785)" }),
                /* @__PURE__ */ a3("pre", { class: "bytes", tabIndex: 0, children: jsonText(request) })
              ] }),
              /* @__PURE__ */ a3("p", { children: [
                "Their SHA-256, computed by this page: ",
                /* @__PURE__ */ a3(Hash, { value: hash, whole: true })
              ] })
            ]
          }
        ),
        /* @__PURE__ */ a3(Panel, { title: "Signals", children: [
          /* @__PURE__ */ a3("p", { class: "quiet", children: "The caller declares these on their own word. What the policy verifies is checked again when the action is executed." }),
          /* @__PURE__ */ a3("p", { children: [
            "Policy",
            " ",
            /* @__PURE__ */ a3(
              "a",
              {
                href: `/console/policies/${encodeURIComponent(request.policy.name)}/${encodeURIComponent(request.policy.version)}`,
                children: /* @__PURE__ */ a3(Said, { text: `${request.policy.name} ${request.policy.version}` })
              }
            ),
            ", content ",
            /* @__PURE__ */ a3(Hash, { value: request.policy.contentHash })
          ] }),
          /* @__PURE__ */ a3(Members, { of: request.signals })
        ] }),
        /* @__PURE__ */ a3(Similar, { to: request })
      ] })
    ] })
  ] });
}
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
    /* @__PURE__ */ a3("details", { open: passkeys.length === 0, children: [
      /* @__PURE__ */ a3("summary", { children: "Sign on your own machine, with a key in a file" }),
      /* @__PURE__ */ a3(
        Command,
        {
          text: `bin/countersign approver sign-request ${requestId} --url ${location.origin} --api-key "$KEY" --key <your key>.pem --approver ${me.approverId ?? "<you>"} --key-id <key>`
        }
      ),
      /* @__PURE__ */ a3("p", { class: "quiet", children: [
        "The command shows hash and action code too, and refuses a request that does not match them.",
        mayDecide && passkeys.length === 0 && /* @__PURE__ */ a3($, { children: [
          " ",
          "Or ",
          /* @__PURE__ */ a3("a", { href: "/console/passkey", children: "make a passkey" }),
          ", and sign here."
        ] })
      ] })
    ] }),
    /* @__PURE__ */ a3("div", { class: "actions", children: [
      mayDecide && /* @__PURE__ */ a3("button", { type: "button", onClick: () => setClosing("decline"), children: "Decline…" }),
      requestedBy === me.callerId && /* @__PURE__ */ a3("button", { type: "button", onClick: () => setClosing("withdraw"), children: "Withdraw…" })
    ] }),
    closing !== void 0 && /* @__PURE__ */ a3(Close, { requestId, how: closing, onDone: () => setClosing(void 0) })
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
function Close({
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
function Similar({ to }) {
  const { data = [] } = useLoaded("/transactions?pageSize=100");
  const similar = data.filter(({ intent }) => intent.action === to.capability).slice(0, 5);
  return /* @__PURE__ */ a3(Panel, { title: "Submitted lately, of this capability", children: [
    similar.length === 0 ? /* @__PURE__ */ a3(Empty, { children: "None of the newest hundred transactions." }) : null,
    /* @__PURE__ */ a3("ul", { class: "plain", children: similar.map(({ businessTransactionId, createdAt, metadata, intent }) => /* @__PURE__ */ a3("li", { children: [
      /* @__PURE__ */ a3("a", { href: `/console/executions/${businessTransactionId}`, children: /* @__PURE__ */ a3(Said, { text: intent.target }) }),
      " ",
      "by ",
      /* @__PURE__ */ a3(Said, { text: metadata.submittedBy }),
      ", ",
      /* @__PURE__ */ a3(Time, { at: createdAt }),
      " ",
      /* @__PURE__ */ a3("code", { children: jsonText(intent.parameters).slice(0, 120) })
    ] }, businessTransactionId)) })
  ] });
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
  ["/", "first filter"],
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
    else if (key === "/") {
      const filter = document.querySelector("[data-filter], main select");
      if (filter === null) return;
      filter.focus();
    } else return;
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
