/**
 * What a library writes its styles into that knows style elements only, which the policy of the page refuses: the text becomes a sheet
 * that a script has made. The build puts it in the place of the element (tools/web.mjs).
 */
class AdoptedStyle extends HTMLElement {
  readonly #sheet = new CSSStyleSheet();

  override set textContent(css: string) {
    this.#sheet.replaceSync(css);
  }

  connectedCallback(): void {
    this.hidden = true;
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== this.#sheet);
  }
}

/** Once, before such a library is used. */
export function defineAdoptedStyle(): void {
  if (customElements.get('adopted-style') === undefined) customElements.define('adopted-style', AdoptedStyle);
}
