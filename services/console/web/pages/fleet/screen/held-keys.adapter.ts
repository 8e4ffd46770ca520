/**
 * Lets go of what is held down when the focus leaves: whoever leads out by keys still holds them, and nobody would tell the screen that they
 * are up again.
 */
export function letGoOnLeaving(canvas: HTMLCanvasElement): () => void {
  const held = new Map<string, string>();
  canvas.addEventListener('keydown', ({ code, key }) => held.set(code, key));
  canvas.addEventListener('keyup', ({ code }) => held.delete(code));
  const letGo = (): void => {
    for (const [code, key] of held) canvas.dispatchEvent(new KeyboardEvent('keyup', { code, key }));
  };
  canvas.addEventListener('blur', letGo);
  return letGo;
}
