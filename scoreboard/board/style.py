"""The board's style sheet: one column, two themes, a phone, paper. System fonts, nothing fetched."""

STYLE = """
:root{
  color-scheme:light dark;--bg:#ffffff;--panel:#f6f8fa;--ink:#1b1f24;--muted:#57606a;--line:#d0d7de;
  --link:#0b57b0;--accepted:#116329;--baseline:#0b57b0;--none:#57606a;--inconclusive:#7d4e00;
  --review:#6f3bb5;--rejected:#b3201b;--invalid:#6b4b3e;--grid:#e4e8ec}
@media (prefers-color-scheme:dark){
  :root{
    --bg:#0f1318;--panel:#171d24;--ink:#e6e9ed;--muted:#a4adb8;--line:#37414d;--link:#7db7ff;
    --accepted:#5fd181;--baseline:#7db7ff;--none:#a4adb8;--inconclusive:#e8b64c;--review:#cba6ff;
    --rejected:#ff8f87;--invalid:#d6ac98;--grid:#252d36}
}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
@media (prefers-reduced-motion:reduce){
  html{scroll-behavior:auto}
}
body{
  margin:0;overflow-wrap:anywhere;background:var(--bg);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header,main,footer{max-width:74rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.35rem;margin:2.6rem 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.8rem 0 .5rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:65ch}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--bg);padding:.5rem .8rem;z-index:1}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:.9rem 0 0}
nav a{display:inline-block;padding:.3rem 0}
.muted,figcaption,caption{color:var(--muted)}
.status{
  border:1px solid var(--line);border-left:.35rem solid var(--accepted);border-radius:.3rem;
  background:var(--panel);padding:.6rem .9rem;margin:1.1rem 0 0}
.status.bad{border-left-color:var(--rejected)}
.status p{margin:.15rem 0;max-width:none}
.status ul{margin:.3rem 0;padding-left:1.2rem}
code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
code{overflow-wrap:anywhere}
td code{overflow-wrap:break-word}
.scroll td:nth-child(3){min-width:8.5rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.3rem}
table{overflow-wrap:break-word;border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;padding:.55rem .7rem;font-size:.88rem}
th,td{text-align:left;vertical-align:baseline;padding:.38rem .7rem;border-top:1px solid var(--line)}
thead th{background:var(--panel);font-size:.8rem;color:var(--muted);white-space:nowrap}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.one{white-space:nowrap}
tbody tr:hover{background:var(--panel)}
.strike{text-decoration:line-through}
tr.taken td{color:var(--muted)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,25rem),1fr));gap:.8rem}
.card{border:1px solid var(--line);border-radius:.3rem;padding:.1rem .9rem .3rem;background:var(--panel)}
.card h3{margin:.6rem 0 .2rem}
.interval{white-space:nowrap;color:var(--muted)}
.symbol{width:.95em;height:.95em;vertical-align:-.1em;margin-right:.35em;overflow:visible}
.word{font-weight:600}
.badge{
  display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:0 .5rem;font-size:.78rem;
  color:var(--muted);white-space:nowrap}
.badge.warn{color:var(--inconclusive);border-color:currentColor}
figure{margin:.4rem 0 1rem}
figure svg{
  display:block;width:100%;height:auto;background:var(--panel);border:1px solid var(--line);
  border-radius:.3rem}
.narrow{display:none}
figcaption{font-size:.86rem;margin-top:.45rem}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;padding:0;margin:.3rem 0;list-style:none}
svg text{font-family:inherit;font-size:12px;fill:var(--muted)}
svg .tick.y{text-anchor:end}
svg .tick.x,svg .tier{text-anchor:middle}
svg .tier{fill:var(--accepted);font-weight:700}
svg .grid{stroke:var(--grid)}
svg .strip{stroke:var(--line);stroke-dasharray:2 3}
svg .frontier{fill:none;stroke:var(--baseline);stroke-width:1.5;stroke-dasharray:6 3}
svg .base{stroke:var(--ink);stroke-width:1.6}
svg .stem{stroke-width:1.2;stroke:var(--muted)}
svg .stem.accepted{stroke:var(--accepted)}
svg .taken{fill:none;stroke:var(--ink);stroke-width:1.3;stroke-dasharray:1.5 2.5}
svg .mark{fill:var(--bg);stroke-width:1.8;stroke:var(--muted)}
svg .accepted.mark{fill:var(--accepted);stroke:var(--accepted)}
svg .baseline.mark{fill:var(--baseline);stroke:var(--baseline)}
svg .none.mark{stroke:var(--none)}
svg .inconclusive.mark{stroke:var(--inconclusive)}
svg .review.mark{fill:var(--review);stroke:var(--review)}
svg .rejected.mark{stroke:var(--rejected);fill:none;stroke-width:2.4}
svg .invalid.mark{stroke:var(--invalid)}
.accepted.word{color:var(--accepted)}
.baseline.word{color:var(--baseline)}
.none.word{color:var(--none)}
.inconclusive.word{color:var(--inconclusive)}
.review.word{color:var(--review)}
.rejected.word{color:var(--rejected)}
.invalid.word{color:var(--invalid)}
details{border:1px solid var(--line);border-radius:.3rem;margin:.45rem 0;background:var(--bg)}
summary{cursor:pointer;padding:.5rem .8rem;display:flex;flex-wrap:wrap;gap:.1rem .8rem;align-items:baseline}
summary::before{content:"+";font-weight:700;color:var(--muted);width:.7em}
details[open]>summary::before{content:"\\2212"}
summary::-webkit-details-marker{display:none}
details[open]>summary{border-bottom:1px solid var(--line);background:var(--panel)}
.verdict{padding:.4rem .8rem .8rem;scroll-margin-top:4rem}
dl{
  display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.15rem 1rem;margin:.6rem 0;
  font-size:.9rem}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
.verdict table{border-bottom:1px solid var(--line)}
.verdict caption{padding-left:0}
.verdict td:nth-child(2){width:100%}
.verdict th,.verdict td{padding-left:0}
footer{margin-top:3rem;padding-top:1rem;padding-bottom:3rem;border-top:1px solid var(--line);font-size:.88rem}
@media (max-width:44rem){
  body{font-size:15px}
  header,main,footer{padding-left:.9rem;padding-right:.9rem}
  .wide{display:none!important}
  .narrow{display:block}
  h1{font-size:1.5rem}
  th,td{padding:.4rem .35rem}
  .badge{white-space:normal;padding:0 .3rem}
  td .badge{border-radius:.3rem}
  table{font-size:.82rem}
  th[scope=row]{overflow-wrap:anywhere}
  td code{display:inline-block;min-width:8ch;vertical-align:top}
  .scroll th,.scroll td{vertical-align:top}
  .verdict dl{grid-template-columns:1fr;gap:0}
  .verdict dd{margin-bottom:.45rem}
  td .interval{display:block;font-size:.92em}
  .scroll td:nth-child(3){min-width:0}
  td code{overflow-wrap:anywhere}
}
@media print{
  :root{
    --bg:#fff;--panel:#fff;--ink:#000;--muted:#444;--line:#bbb;--link:#000;--accepted:#116329;
     --baseline:#0b57b0;--none:#57606a;--inconclusive:#7d4e00;--review:#6f3bb5;--rejected:#b3201b;
    --invalid:#6b4b3e;--grid:#ddd}
  body{font-size:9.5pt}
  header,main,footer{max-width:none;padding:0}
  nav,.skip{display:none}
  a{text-decoration:none}
  .scroll{overflow:visible;border:0}
  table{font-size:8pt}
  th,td{padding:.2rem .35rem}
  tr,figure,.status{break-inside:avoid}
  h2,h3,summary{break-after:avoid}
  thead{display:table-header-group}
  details{border:0;border-top:1px solid var(--line);border-radius:0}
  details::details-content{content-visibility:visible;height:auto;block-size:auto}
  summary{padding:.3rem 0 0}
  summary::before{content:none}
  .besides,.scroll::-webkit-scrollbar{display:none}
  .verdict{padding:0 0 .4rem}
  .verdict dl{display:block;font-size:7.5pt}
  .verdict dt,.verdict dd{display:inline}
  .verdict dt::after{content:": "}
  .verdict dd::after{content:"  |  ";white-space:pre}
  .verdict dd div{display:inline}
  .verdict tr{break-inside:avoid}
  .verdict caption{display:none}
  figure .wide{display:block!important}
  figure .narrow{display:none!important}
  figure svg{max-height:6.5cm}
  @page{margin:14mm 12mm}
}
"""
