/** Makes the frame of a mail as high as its content. No script runs in it, so it cannot do this itself. */
function fit(frame) {
  const { URL: address, documentElement: mail } = frame.contentDocument ?? {};
  // Nothing is loaded yet, or nothing is visible.
  if (mail?.offsetHeight && address !== 'about:blank') frame.style.height = `${mail.offsetHeight}px`;
}

const frames = [...document.querySelectorAll('iframe')];
const fitAll = () => frames.forEach(fit);

for (const frame of frames) frame.addEventListener('load', () => fit(frame));
for (const mail of document.querySelectorAll('.mail')) mail.addEventListener('toggle', fitAll);
window.addEventListener('resize', fitAll);
fitAll();
