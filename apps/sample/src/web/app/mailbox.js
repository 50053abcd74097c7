/** Makes the frame of a mail as high as its content. No script runs in it, so it cannot do this itself. */
function fit(frame) {
  const mail = frame.contentDocument;
  // Nothing is loaded yet, or nothing is visible.
  if (mail === null || mail.URL === 'about:blank' || mail.documentElement.offsetHeight === 0) return;
  frame.style.height = `${mail.documentElement.offsetHeight}px`;
}

const frames = [...document.querySelectorAll('iframe')];
const fitAll = () => frames.forEach(fit);

for (const frame of frames) frame.addEventListener('load', () => fit(frame));
for (const mail of document.querySelectorAll('.mail')) mail.addEventListener('toggle', fitAll);
window.addEventListener('resize', fitAll);
fitAll();
