// An expression: what of the page that is shown cannot be read, each as a text. It looks at every text that is visible: its contrast with
// what is behind it (WCAG 2.2, success criterion 1.4.3), and whether the page is wider than the window (1.4.10).
(() => {
  const faults = [];
  const parse = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const over = (front, back) => {
    const mix = (name) => front[name] * front.alpha + back[name] * (1 - front.alpha);
    return { red: mix("red"), green: mix("green"), blue: mix("blue"), alpha: 1 };
  };
  const luminance = (color) => {
    const linear = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const canvas = parse(getComputedStyle(document.documentElement).backgroundColor);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    const white = { red: 255, green: 255, blue: 255, alpha: 1 };
    return layers.reduceRight((back, front) => over(front, back), canvas.alpha ? over(canvas, white) : white);
  };

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest("script,style,title,.skip:not(:focus)")) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    const back = behind(element);
    const front = over(parse(element.closest("svg") ? style.fill : style.color), back);
    const found = contrast(front, back);
    if (found < (large ? 3 : 4.5)) faults.push(`"${node.data.trim()}" has a contrast of ${found.toFixed(2)}`);
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.body.querySelectorAll("*")].filter((e) => !e.closest(".wide") && e.getBoundingClientRect().right > root.clientWidth + 1);
    faults.push(`the page is ${root.scrollWidth} pixels wide, the window ${root.clientWidth}: ${wide.slice(-1).map((e) => e.outerHTML.slice(0, 120))}`);
  }
  return [...new Set(faults)];
})()
