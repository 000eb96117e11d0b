import{e}from"./chunk-AEMJEILJ.js";function h(){return e("h1",{children:"Saved"})}export{h as View};
