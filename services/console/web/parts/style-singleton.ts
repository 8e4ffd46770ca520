import { useInsertionEffect } from 'react';

/**
 * In the place of the package of this name, by which the dialogs keep the page behind them still: that one writes a style element, which
 * the policy of the page refuses. A sheet that a script has made is no text in the page.
 */
export function styleSingleton() {
  return function Sheet({ styles }: { readonly styles: string; readonly dynamic?: boolean }): null {
    useInsertionEffect(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
      document.adoptedStyleSheets.push(sheet);
      return () => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      };
    }, [styles]);
    return null;
  };
}
