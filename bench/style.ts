// The look of the report's page.

export const STYLE = `
:root { color-scheme: light dark; --paper: #f6f7f9; --card: #fff; --ink: #16202c; --soft: #5b6878; --rule: #e1e5ea;
  --c0: #2563eb; --c1: #e08a00; --c2: #7c5cd6; --c3: #0e9f6e; --c4: #d6336c; --c5: #0891b2; }
@media (prefers-color-scheme: dark) { :root { --paper: #0f141b; --card: #171e27; --ink: #e6ebf2; --soft: #9aa7b7; --rule: #2a3441;
  --c0: #6ea8fe; --c1: #ffb84d; --c2: #b197fc; --c3: #4ade9f; --c4: #ff8fb1; --c5: #4cd4ec; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 1320px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 26px; margin: 0; letter-spacing: -.01em; }
header p { margin: 2px 0 20px; color: var(--soft); }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 22px 20px; margin: 0 0 18px; }
h2 { font-size: 19px; margin: 0 0 4px; }
h3 { font-size: 14px; margin: 18px 0 4px; color: var(--soft); font-weight: 600; }
section > p { margin: 0 0 12px; color: var(--soft); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(400px, 1fr)); gap: 22px 28px; margin: 14px 0 18px; align-items: start; }
@media (max-width: 500px) { .plots { grid-template-columns: 1fr; } section { padding: 14px; } }
figure { margin: 0; }
figcaption { font-weight: 600; font-size: 14px; }
figcaption small { font-weight: 400; color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 12.5px; color: var(--soft); margin: 3px 0; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
svg { display: block; width: 100%; height: auto; font: 11.5px system-ui, sans-serif; }
svg text { fill: var(--soft); } svg text.value { fill: var(--ink); font-weight: 600; }
.grid { stroke: var(--rule); stroke-width: 1; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.range { stroke-width: 6; opacity: .25; stroke-linecap: round; }
${[0, 1, 2, 3, 4, 5].map((i) => `.c${i} { --of: var(--c${i}); }`).join(' ')}
rect, circle { fill: var(--of); } .line, .range { stroke: var(--of); } .legend i { background: var(--of); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { text-align: right; padding: 4px 8px; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { color: var(--soft); font-weight: 600; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
tr:last-child td { border-bottom: 0; }
.better { color: var(--c3); font-weight: 600; } .worse { color: var(--c4); font-weight: 600; }
.trend { margin: 12px 0 0; }
.checked { margin: 12px 0 0; font-size: 13.5px; } .checked::before { content: '✓ '; color: var(--c3); font-weight: 700; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 8px 0 14px; font-size: 14px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.note { font-size: 13.5px; color: var(--soft); margin: 0; padding-left: 18px; }
@media print { section { break-inside: avoid; border: 0; } }
`
